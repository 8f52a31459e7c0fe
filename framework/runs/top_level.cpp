#include "framework/runs/top_level.h"

#include <set>

namespace imprint {

std::vector<int64_t> read_seeds(Keys& keys) {
  const auto* value = keys.raw("seeds");
  std::vector<int64_t> seeds;
  if (value == nullptr) return {0};
  if (value->is_list()) {
    for (const auto& item : value->items)
      if (const auto seed = as_integer(item); seed && *seed >= 0) seeds.push_back(*seed);
    const std::set<int64_t> distinct(seeds.begin(), seeds.end());
    if (distinct.size() == value->items.size() && !seeds.empty()) return seeds;
  } else if (const auto count = as_integer(*value); count && *count >= 1 && *count <= 10'000) {
    for (int64_t seed = 0; seed < *count; ++seed) seeds.push_back(seed);
    return seeds;
  }
  keys.problem(
      "seeds",
      fmt::format(
          "seeds must be a number of seeds (at least 1) or a list of different seeds, not {}",
          to_flow(*value)));
  return {0};
}

AuditChoice read_audit(const Value* spec, Problems& problems, Defaults& defaults) {
  AuditChoice choice;
  if (spec == nullptr) return choice;
  Keys keys(*spec, new_reading("audit", problems));
  if (!spec->is_map()) {
    problems.add(spec->mark, "audit must be a map, such as {fpr: 0.01, delta: 1e-5}");
    return choice;
  }
  choice.fpr = keys.number("fpr", choice.fpr)
                   .above(0)
                   .within(0, 1)
                   .doc("false positive rate at which members count as found");
  choice.delta = keys.number("delta", choice.delta)
                     .within(0, 1)
                     .doc("of the differential privacy whose epsilon is bounded");
  keys.finish();
  defaults.add("audit", keys.reading()->resolved());
  return choice;
}

std::optional<TuneChoice> read_tune(const Value* spec, Problems& problems, Defaults& defaults) {
  if (spec == nullptr) return std::nullopt;
  TuneChoice choice;
  if (!spec->is_map()) {
    problems.add(spec->mark, "tune must be a map, such as {by: p1_cell}");
    return choice;
  }
  Keys keys(*spec, new_reading("tune", problems));
  choice.by = keys.choice("by", {"p1_cell", "accuracy", "advantage"})
                  .doc("what decides, measured on the tune piece")
                  .get();
  choice.keep_accuracy =
      keys.flag("keep_accuracy", false)
          .doc("choose among settings that are no less accurate there than the undefended model");
  keys.finish();
  defaults.add("tune", keys.reading()->resolved());
  return choice;
}

bool read_top_level(const Value& root, Problems& problems) {
  Keys keys(root, new_reading("the experiment", problems));
  for (const auto* known :
       {"name", "base", "plugins", "data", "model", "train", "defenses", "attacks", "measures",
        "shadows", "target", "seeds", "device", "audit", "tune", "figures", "expect", "scaled"})
    keys.raw(known);
  keys.finish();
  bool usable = true;
  for (const auto* list : {"defenses", "attacks", "measures", "figures", "expect", "plugins"}) {
    const auto* value = root.find(list);
    if (value == nullptr || (value->is_list() && !value->sweep)) continue;
    problems.add(value->mark,
                 std::string(list) +
                     (value->sweep ? " cannot be swept; list its entries" : " must be a list"));
    usable = false;
  }
  return usable;
}

std::string read_name(const Value& root, const std::string& fallback, Problems& problems) {
  const auto* name = root.find("name");
  const auto text = name == nullptr ? fallback : name->text;
  const bool odd = text.empty() || text.front() == '.' || text == "latest" ||
                   text.find_first_of("/\\ \n\t") != std::string::npos;
  if (odd)
    problems.add(name == nullptr ? root.mark : name->mark,
                 "name must be a word without spaces, slashes and a dot in front, and not latest");
  return text;
}

}  // namespace imprint
