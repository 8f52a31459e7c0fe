#include "framework/runs/cell_reader.h"

#include <set>

#include "framework/config/digest.h"
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
  if (const auto* targets = keys.raw("targets"); targets != nullptr && targets->text == "all") {
    choice.all_targets = true;
    choice.targets = choice.count + 2;
  } else {
    choice.targets = keys.integer("targets", 1)
                         .within(1, 100'000)
                         .doc("pool: how many of the models play the target in turn, or all");
  }
  if (keys.has("until")) {
    auto until = keys.section("until");
    choice.until = Until{
        until.text("metric", "tpr_at_0.01").doc("a column of results.csv"),
        until.text("attack", "").doc("whose; the one with the largest value if none is named"),
        until.number("half_width").above(0).doc("of the 95 % interval that is narrow enough"),
        until.mark()};
  }
  keys.finish();
  return choice;
}

// The sections of one point of the sweep outside defenses and attacks.
class CellReader {
 public:
  CellReader(const Value& root, Problems& problems) : root_(root), problems_(problems) {}

  void read(Cell& cell, Defaults& defaults) {
    read_data(cell, defaults);
    read_target(cell, defaults);
    read_model(cell, defaults);
    read_training(cell, defaults);
    cell.shadows = read_shadows(root_.find("shadows"), problems_);
    const auto* device = root_.find("device");
    cell.device = choose_device(device == nullptr ? "auto" : device->text,
                                device == nullptr ? root_.mark : device->mark, problems_);
    read_measures(cell);
  }

 private:
  void read_target(Cell& cell, Defaults& defaults) {
    const auto* spec = root_.find("target");
    if (spec == nullptr) return;
    if (!spec->is_map()) {
      problems_.add(spec->mark, "target must be a map, such as {weights: model.pt}");
      return;
    }
    auto& target = cell.target;
    target.mark = spec->mark;
    Keys keys(*spec, new_reading("target", problems_));
    target.weights = keys.path("weights")
                         .doc(
                             "a file of weights, PyTorch's or safetensors: the target is not "
                             "trained, its shadows are")
                         .get();
    keys.finish();
    // The word itself, not a file of that name.
    if (const auto* word = spec->find("weights"); word != nullptr && word->text == "as_built")
      target.weights = "as_built";
    else if (target.digest = file_digest(target.weights); target.digest.empty())
      keys.problem("weights", fmt::format("cannot read '{}'", target.weights));
    else
      defaults.add("target", keys.reading()->resolved());
  }

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
    Keys written(*spec, new_reading("data", problems_));
    data.source = build(SourceRegistry::instance(), "dataset", *spec, problems_,
                        [&](Keys& keys) { read_data_keys(keys, data); });
    if (!data.source) return;
    defaults.add("data", with_name(data.source));
    complete(data, written);
  }

  // What needs the source's own facts.
  void complete(DataChoice& data, Keys& keys) {
    const auto facts = data.source.component->facts();
    if (data.preparation.normalise == "standard") {
      data.preparation.mean = facts.mean;
      data.preparation.deviation = facts.deviation;
      if (facts.mean.empty())
        keys.problem("normalise",
                     fmt::format("dataset '{}' has no constants of its own; use normalise: members",
                                 data.source.about->name));
    }
    if (!keys.has("relabel")) return;
    const auto word = keys.text("relabel", "").get();
    if (!word.empty()) data.groups = class_groups(word, facts, keys);
  }

  static std::vector<std::vector<int64_t>> class_groups(const std::string& word, const Facts& facts,
                                                        Keys& keys) {
    if (const auto found = facts.groups.find(word); found != facts.groups.end())
      return found->second;
    std::vector<std::vector<int64_t>> groups(1);
    std::set<int64_t> seen;
    std::string digits;
    bool good = true;
    for (const char c : word + ",") {
      if (c >= '0' && c <= '9') {
        digits += c;
        continue;
      }
      if (!digits.empty() && digits.size() < 10) {
        groups.back().push_back(std::stoll(digits));
        good = good && seen.insert(groups.back().back()).second;
      }
      good = good && digits.size() < 10 && (c == ',' || c == ' ' || c == '|');
      if (c == '|') groups.emplace_back();
      digits.clear();
    }
    for (const auto& group : groups) good = good && !group.empty();
    if (good && groups.size() > 1) return groups;
    std::vector<std::string> names;
    for (const auto& [name, unused] : facts.groups) names.push_back(name);
    keys.problem(
        "relabel",
        fmt::format("relabel must be {}classes such as '1 3 5 | 0 2 4', each in one "
                    "group, at least two groups; not '{}'{}",
                    names.empty() ? "" : joined(names) + " or ", word, did_you_mean(word, names)));
    return {};
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
    cell.model_address = built.reading->address(true);
    cell.model_source = built.about->digest();
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
    defaults.add("train", reading->resolved());
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

void read_sections(const Value& root, Cell& cell, Defaults& defaults, Problems& problems) {
  CellReader(root, problems).read(cell, defaults);
}

}  // namespace imprint
