#include "framework/runs/experiment.h"

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>

#include "framework/runs/cell_reader.h"
#include "framework/runs/machine.h"
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

void check_chain(const Cell& cell, const Chain& chain, Problems& problems) {
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
    const auto& sampling = cell.schedule->sampling;
    if (demands.sampling && sampling != "auto" && sampling != *demands.sampling)
      problems.add(cell.chain_mark, fmt::format("defense '{}' needs train.sampling: {}, not {}",
                                                link.about->name, *demands.sampling, sampling));
  }
  const auto released = chain.release();
  if (released && *released > cell.schedule->epochs)
    problems.add(cell.chain_mark,
                 fmt::format("the epoch released ({}) must not exceed train.epochs ({})", *released,
                             cell.schedule->epochs));
}

void check_shadows(const Cell& cell, const Mark& mark, Problems& problems) {
  for (const auto& choice : cell.attacks) {
    const auto needed = shadows_needed(choice, 1);
    if (cell.shadows.count < needed)
      problems.add(mark, fmt::format("attack '{}' needs at least {} shadow{}, not {}", choice.label,
                                     needed, needed == 1 ? "" : "s", cell.shadows.count));
  }
}

std::vector<AttackChoice> read_attacks(const Value* list, Problems& problems, Defaults& defaults) {
  std::vector<AttackChoice> attacks;
  if (list == nullptr) return attacks;
  std::set<std::string> labels;
  for (size_t i = 0; i < list->items.size(); ++i) {
    for (const auto& variant : expand_sweeps(list->items[i])) {
      AttackChoice choice;
      choice.attack = build(AttackRegistry::instance(), "attack", variant.value, problems,
                            [&](Keys& keys) { read_attack_keys(keys, choice); });
      if (!choice.attack) continue;
      if (choice.label.empty()) choice.label = choice.attack.about->name;
      if (!variant.choices.empty()) choice.label += " (" + choice_words(variant.choices) + ")";
      if (!labels.insert(choice.label).second)
        problems.add(variant.value.mark,
                     fmt::format("two attacks are called '{}'; give one a label", choice.label));
      defaults.add(fmt::format("attacks[{}]", i), with_name(choice.attack));
      attacks.push_back(std::move(choice));
    }
  }
  return attacks;
}

// False: something has the wrong kind, and reading on would only confuse.
bool read_top_level(const Value& root, Problems& problems) {
  Keys keys(root, new_reading("the experiment", problems));
  for (const auto* known :
       {"name", "base", "plugins", "data", "model", "train", "defenses", "attacks", "measures",
        "shadows", "target", "seeds", "device", "figures", "expect"})
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

// Loads the plugins and writes where they were found: a path in a file is relative to that file.
void load_plugins(Value& root) {
  auto* plugins = root.find("plugins");
  if (plugins == nullptr) return;
  for (auto& item : plugins->items) {
    if (!item.is_scalar())
      throw ConfigError(item.mark.prefix() + "a plugin is the path of a shared object");
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
  if (word == "cpu" || (word == "auto" && !sees_gpu())) return torch::kCPU;
  if (word != "auto" && !std::regex_match(word, std::regex("cuda(:[0-9]{1,2})?")))
    problems.add(mark,
                 fmt::format("device must be one of auto, cpu, cuda, cuda:1, not '{}'", word));
  else if (!sees_gpu())
    problems.add(mark, fmt::format("device: {} asks for a GPU, and this LibTorch sees none; use "
                                   "device: auto or cpu",
                                   word));
  else
    return torch::Device(word == "auto" ? "cuda" : word);
  return torch::kCPU;
}

void read_attack_keys(Keys& keys, AttackChoice& choice) {
  if (const auto* label = keys.raw("label")) choice.label = label->text;
  choice.per_class = keys.choice("threshold", {"per_class", "global"})
                         .doc("one threshold per class, or one for all")
                         .get() == "per_class";
}

int64_t shadows_needed(const AttackChoice& choice, int64_t all) {
  const auto needs = choice.attack.component->needs();
  if (needs.shadows) return std::max<int64_t>(all, needs.decides ? 1 : 2);
  return needs.decides ? 0 : 1;
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
  if (!read_top_level(root, problems)) problems.raise();
  load_plugins(root);
  Experiment experiment;
  Defaults defaults;
  experiment.name = read_name(root, fallback_name, problems);
  experiment.resolved = root;
  experiment.resolved.set("name", Value::scalar(experiment.name));
  Keys keys(root, new_reading("the experiment", problems));
  const auto seeds = read_seeds(keys);
  const auto attacks = read_attacks(root.find("attacks"), problems, defaults);
  if (const auto* figures = root.find("figures")) experiment.figures = *figures;
  if (const auto* expect = root.find("expect")) experiment.expect = *expect;
  for (auto& point : defense_points(root, problems)) {
    Cell cell;
    cell.label = point.label;
    cell.swept = point.swept;
    cell.attacks = attacks;
    cell.chain_mark = point.mark;
    read_sections(point.root, cell, defaults, problems);
    const auto chain = build_chain(point.chain, problems);
    std::vector<std::string> names;
    for (const auto& link : chain.links()) {
      names.push_back(link.about->name);
      cell.chain.push_back(with_name(link));
      const auto place = point.is_chain ? fmt::format("[{}]", names.size() - 1) : "";
      if (root.find("defenses") != nullptr)
        defaults.add(fmt::format("defenses[{}]{}", point.entry, place), cell.chain.back());
    }
    cell.defense = joined(names, "+");
    check_chain(cell, chain, problems);
    check_shadows(cell, root.find("shadows") == nullptr ? root.mark : root.find("shadows")->mark,
                  problems);
    add_seeds(cell, seeds, experiment.cells);
  }
  problems.raise();
  defaults.write(experiment.resolved);
  for (const auto& [key, text] : {std::pair{"shadows", "{count: 1, defense: same}"},
                                  std::pair{"seeds", "[0]"}, std::pair{"device", "auto"}})
    if (root.find(key) == nullptr) experiment.resolved.set(key, parse_yaml(text, ""));
  return experiment;
}

}  // namespace imprint
