#include "framework/runs/cell_reader.h"

#include <set>

#include "framework/runs/sweep.h"

namespace imprint {
namespace {

ShadowChoice read_shadows(const Value* value, Problems& problems) {
  ShadowChoice choice;
  if (value == nullptr) return choice;
  Value map = Value::map();
  map.mark = value->mark;
  if (!value->is_map()) map.set("count", *value);
  Keys keys(value->is_map() ? *value : map, new_reading("shadows", problems));
  choice.count = keys.integer("count", 1).within(0, 100'000).doc("shadow models per target");
  choice.defended =
      keys.choice("defense", {"same", "none"}).doc("the shadows' defense").get() == "same";
  keys.finish();
  return choice;
}

// The sections of one point of the sweep outside defenses and attacks.
class CellReader {
 public:
  CellReader(const Value& root, Problems& problems) : root_(root), problems_(problems) {}

  void read(Cell& cell, Defaults& defaults) {
    read_data(cell, defaults);
    read_model(cell, defaults);
    read_training(cell, defaults);
    cell.shadows = read_shadows(root_.find("shadows"), problems_);
    const auto* device = root_.find("device");
    cell.device = choose_device(device == nullptr ? "auto" : device->text,
                                device == nullptr ? root_.mark : device->mark, problems_);
    read_measures(cell);
  }

 private:
  void read_measures(Cell& cell) {
    const auto* measures = root_.find("measures");
    if (measures == nullptr) return;
    if (!measures->is_list()) {
      problems_.add(measures->mark, "measures must be a list, such as [loss_distribution]");
      return;
    }
    for (const auto& item : measures->items) {
      const auto built = build(MeasureRegistry::instance(), "measure", item, problems_, {});
      if (built) cell.measures.push_back(with_name(built));
    }
  }

  void read_data(Cell& cell, Defaults& defaults) {
    const auto* spec = required("data");
    if (spec == nullptr) return;
    auto& data = cell.data;
    data.mark = spec->mark;
    data.split_mark = spec->find("split") == nullptr ? spec->mark : spec->find("split")->mark;
    data.source = build(SourceRegistry::instance(), "dataset", *spec, problems_,
                        [&](Keys& keys) { read_data_keys(keys, data); });
    if (data.source) defaults.add("data", with_name(data.source));
  }

  void read_model(Cell& cell, Defaults& defaults) {
    const auto* spec = required("model");
    if (spec == nullptr) return;
    // A shape that any model accepts: only keys are read here.
    const Shape shape{{1, 32, 32}, 2, 0};
    const auto built = build(ModelRegistry::instance(), "model", *spec, problems_, {}, shape);
    if (!built) return;
    cell.model = built.about->name;
    cell.model_spec = with_name(built);
    cell.model_address = built.reading->address(true) + "\n" + built.about->digest();
    defaults.add("model", cell.model_spec);
  }

  void read_training(Cell& cell, Defaults& defaults) {
    static const Value nothing;
    const auto* spec = root_.find("train");
    auto reading = new_reading("train", problems_);
    Keys keys(spec == nullptr ? nothing : *spec, reading);
    if (spec != nullptr && !spec->is_map()) {
      problems_.add(spec->mark, "train must be a map of keys");
      return;
    }
    cell.schedule = std::make_shared<Schedule>(keys);
    keys.finish();
    cell.schedule_address = schedule_address(*reading, *cell.schedule);
    cell.schedule_keys = reading->resolved();
    defaults.add("train", cell.schedule_keys);
  }

  const Value* required(const std::string& key) {
    const auto* spec = root_.find(key);
    if (spec == nullptr)
      problems_.add(root_.mark, fmt::format("the experiment needs the key '{}'", key));
    return spec;
  }

  // Sampling depends on the defense and is added by the plan; 1e2 and 100 are the same batch.
  static std::string schedule_address(KeyLog keys, const Schedule& schedule) {
    std::erase_if(keys.values, [](const KeyValue& each) {
      return each.path == "sampling" || each.path == "batch";
    });
    return keys.address(true) + fmt::format("\nbatch: {}", schedule.batch);
  }

  const Value& root_;
  Problems& problems_;
};

}  // namespace

void read_data_keys(Keys& keys, DataChoice& data) {
  data.protocol = std::make_shared<Protocol>(keys.section("split"));
  data.keep_classes = keys.integers("keep_classes", {})
                          .at_least(0)
                          .doc("only records of these classes, renumbered; empty: all")
                          .get();
  data.limit = keys.integer("limit", 0)
                   .at_least(0)
                   .doc("at most that many records, chosen at random; 0: all")
                   .get();
  const std::set<int64_t> distinct(data.keep_classes.begin(), data.keep_classes.end());
  if (distinct.size() != data.keep_classes.size() || distinct.size() == 1)
    keys.problem("keep_classes", "keep_classes must name at least two different classes");
}

void read_sections(const Value& root, Cell& cell, Defaults& defaults, Problems& problems) {
  CellReader(root, problems).read(cell, defaults);
}

}  // namespace imprint
