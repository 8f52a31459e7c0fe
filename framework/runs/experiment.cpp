#include "framework/runs/experiment.h"

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>

#include "framework/runs/cell_checks.h"
#include "framework/runs/cell_reader.h"
#include "framework/runs/machine.h"
#include "framework/runs/sweep.h"
#include "framework/runs/top_level.h"

namespace imprint {
namespace {

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
      choice.mark = variant.value.mark;
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
    for (int64_t target = 0; target < cell.shadows.targets; ++target) {
      cells.push_back(cell);
      cells.back().seed = seed;
      cells.back().target_model = target;
      cells.back().id = unique_id(cells.back().label, cell.swept, seed, cells.size());
      if (cell.shadows.targets > 1) cells.back().id += fmt::format("-target{}", target);
    }
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
  choice.threshold =
      keys.choice("threshold", {"auto", "per_class", "global"})
          .doc(
              "one threshold per class, or one for all; auto: per class, unless the attack's "
              "scores mean the same in all classes")
          .get();
}

bool AttackChoice::per_class() const {
  return threshold == "per_class" ||
         (threshold == "auto" && !attack.component->needs().one_threshold);
}

int64_t shadows_needed(const AttackChoice& choice, int64_t all) {
  const auto needs = choice.attack.component->needs();
  if (needs.shadows == Needs::Shadows::pool) return std::max<int64_t>(all, 2);
  return needs.decides && needs.shadows == Needs::Shadows::none ? 0 : 1;
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
  experiment.scaled =
      keys.flag("scaled", false).doc("smaller than what the claims were published about");
  const auto attacks = read_attacks(root.find("attacks"), problems, defaults);
  experiment.audit = read_audit(root.find("audit"), problems, defaults);
  experiment.tune = read_tune(root.find("tune"), problems, defaults);
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
    if (experiment.tune) check_tune(cell, root.find("tune")->mark, problems);
    check_attacks(cell, chain,
                  root.find("shadows") == nullptr ? root.mark : root.find("shadows")->mark,
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
