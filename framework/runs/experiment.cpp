#include "framework/runs/experiment.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "framework/runs/cell_reader.h"
#include "framework/runs/sweep.h"

namespace imprint {
namespace {

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

void check_chain(Cell& cell, const Chain& chain, Problems& problems) {
  if (!cell.schedule || !cell.data.protocol) return;
  for (const auto& link : chain.links()) {
    const auto demands = link.component->demands();
    if (demands.reference && cell.data.protocol->name != "five_way")
      problems.add(
          cell.chain_mark,
          fmt::format("defense '{}' needs reference records, which protocol {} does not have; use "
                      "data.split.protocol: five_way (for this entry alone: with: "
                      "{{data.split.protocol: five_way}})",
                      link.about->name, cell.data.protocol->name));
    if (!demands.sampling || *demands.sampling == cell.schedule->sampling) continue;
    if (cell.schedule->sampling_given)
      problems.add(cell.chain_mark,
                   fmt::format("defense '{}' needs train.sampling: {}, not {}", link.about->name,
                               *demands.sampling, cell.schedule->sampling));
    cell.schedule->sampling = *demands.sampling;
    cell.schedule_address += "\nsampling: " + *demands.sampling;
  }
  const auto released = chain.release();
  if (released && *released > cell.schedule->epochs)
    problems.add(cell.chain_mark,
                 fmt::format("the epoch released ({}) must not exceed train.epochs ({})", *released,
                             cell.schedule->epochs));
}

std::vector<AttackChoice> read_attacks(const Value* list, Problems& problems, Value* resolved) {
  std::vector<AttackChoice> attacks;
  if (list == nullptr) return attacks;
  if (!list->is_list()) {
    problems.add(list->mark, "attacks must be a list, such as [loss, entropy]");
    return attacks;
  }
  std::set<std::string> labels;
  for (size_t i = 0; i < list->items.size(); ++i) {
    for (const auto& variant : expand_sweeps(list->items[i])) {
      AttackChoice choice;
      choice.attack =
          build(AttackRegistry::instance(), "attack", variant.value, problems, [&](Keys& keys) {
            choice.label = keys.text("label", "").doc("name in tables and figures").get();
            choice.per_class = keys.choice("threshold", {"per_class", "global"})
                                   .doc("one threshold per class, or one for all")
                                   .get() == "per_class";
          });
      if (!choice.attack) continue;
      if (choice.label.empty()) choice.label = choice.attack.about->name;
      if (!variant.choices.empty()) choice.label += " (" + choice_words(variant.choices) + ")";
      if (!labels.insert(choice.label).second)
        problems.add(variant.value.mark,
                     fmt::format("two attacks are called '{}'; give one a label", choice.label));
      if (resolved != nullptr) {
        auto& item = resolved->find("attacks")->items[i];
        item = with_defaults(item.is_map() ? item : Value::map(), with_name(choice.attack));
      }
      attacks.push_back(std::move(choice));
    }
  }
  return attacks;
}

void read_top_level(const Value& root, Problems& problems) {
  Keys keys(root, new_reading("the experiment", problems));
  for (const auto* known :
       {"name", "base", "plugins", "data", "model", "train", "defenses", "attacks", "measures",
        "shadows", "seeds", "device", "figures", "expect"})
    keys.raw(known);
  keys.finish();
  for (const auto* list : {"defenses", "measures", "figures", "expect", "plugins"}) {
    const auto* value = root.find(list);
    if (value != nullptr && !value->is_list())
      problems.add(value->mark, fmt::format("{} must be a list", list));
  }
}

// Loads the plugins and writes where they were found: a path in a file is relative to that file.
void load_plugins(Value& root) {
  auto* plugins = root.find("plugins");
  if (plugins == nullptr) return;
  for (auto& item : plugins->items) {
    if (!item.is_scalar()) throw ConfigError(item.mark.prefix() + "a plugin is the path of a shared object");
    std::filesystem::path path = item.text;
    if (item.mark.line > 0) path = std::filesystem::path(item.mark.file).parent_path() / path;
    load_plugin(path.lexically_normal().string(), item.mark);
    item.text = std::filesystem::absolute(path).lexically_normal().string();
  }
}

void add_seeds(const Cell& cell, const std::vector<int64_t>& seeds, std::vector<Cell>& cells) {
  for (const auto seed : seeds) {
    cells.push_back(cell);
    cells.back().seed = seed;
    cells.back().id = unique_id(cells.back().label, cell.swept, seed, cells.size());
  }
}

}  // namespace

torch::Device choose_device(const std::string& word, const Mark& mark, Problems& problems) {
  const bool cuda = word == "cuda" || word.starts_with("cuda:");
  if (word == "cpu" || (word == "auto" && !torch::hasCUDA())) return torch::kCPU;
  if (word != "auto" && !cuda) {
    problems.add(mark,
                 fmt::format("device must be one of auto, cpu, cuda, cuda:1, not '{}'", word));
    return torch::kCPU;
  }
  if (!torch::hasCUDA()) {
    problems.add(
        mark, fmt::format(
                  "device: {} asks for a GPU, and this LibTorch sees none; use device: auto or cpu",
                  word));
    return torch::kCPU;
  }
  return torch::Device(word == "auto" ? "cuda" : word);
}

Chain build_chain(const std::vector<Value>& specs, Problems& problems) {
  std::vector<Built<Defense>> links;
  for (const auto& spec : specs) {
    auto built = build(DefenseRegistry::instance(), "defense", spec, problems, [](Keys& keys) {
      keys.raw("label");
      keys.raw("with");
    });
    if (built) links.push_back(std::move(built));
  }
  return Chain(std::move(links));
}

Experiment read_experiment(Value root, const std::string& fallback_name) {
  Problems problems;
  read_top_level(root, problems);
  problems.raise();
  load_plugins(root);
  Experiment experiment;
  const auto* name = root.find("name");
  experiment.name = name == nullptr ? fallback_name : name->text;
  const bool odd =
      experiment.name.empty() || experiment.name.find_first_of("/\\ \n\t") != std::string::npos;
  if (odd)
    problems.add(name == nullptr ? root.mark : name->mark,
                 "name must be a word without spaces and slashes");
  experiment.resolved = root;
  experiment.resolved.set("name", Value::scalar(experiment.name));
  Keys keys(root, new_reading("the experiment", problems));
  const auto seeds = read_seeds(keys);
  const auto attacks = read_attacks(root.find("attacks"), problems, &experiment.resolved);
  if (const auto* figures = root.find("figures")) experiment.figures = *figures;
  if (const auto* expect = root.find("expect")) experiment.expect = *expect;
  bool first = true;
  for (auto& point : defense_points(root, problems)) {
    Cell cell;
    cell.label = point.label;
    cell.swept = point.swept;
    cell.attacks = attacks;
    read_sections(point.root, cell, first ? &experiment.resolved : nullptr, problems);
    cell.chain_mark = point.mark;
    const auto chain = build_chain(point.chain, problems);
    std::vector<std::string> names;
    for (const auto& link : chain.links()) {
      names.push_back(link.about->name);
      cell.chain.push_back(with_name(link));
    }
    cell.defense = joined(names, "+");
    fill_defense(experiment.resolved, point, cell.chain);
    check_chain(cell, chain, problems);
    add_seeds(cell, seeds, experiment.cells);
    first = false;
  }
  problems.raise();
  return experiment;
}

}  // namespace imprint
