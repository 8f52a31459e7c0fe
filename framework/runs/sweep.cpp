#include "framework/runs/sweep.h"

#include <algorithm>
#include <map>
#include <set>

namespace imprint {
namespace {

std::string name_of(const Value& spec) {
  const auto* name = spec.is_map() ? spec.find("name") : &spec;
  return name == nullptr ? "" : name->text;
}

std::vector<Value> links_of(const Value& entry) {
  return entry.is_list() ? entry.items : std::vector<Value>{entry};
}

// The first of a chain's maps that has the key.
std::optional<Value> reserved(const std::vector<Value>& chain, const std::string& key) {
  for (const auto& link : chain)
    if (const auto* found = link.is_map() ? link.find(key) : nullptr) return *found;
  return std::nullopt;
}

// Keys written with plain values, which tell two entries of the same defense apart.
std::string plain_keys(const Value& entry) {
  std::vector<std::string> words;
  for (const auto& link : links_of(entry))
    for (const auto& [key, mark, value] : link.entries)
      if (value.is_scalar() && key != "name" && key != "label") words.push_back(value.text);
  return joined(words);
}

std::vector<std::string> entry_labels(const std::vector<Value>& entries) {
  std::map<std::string, int> count;
  std::vector<std::string> labels;
  for (const auto& entry : entries) {
    std::vector<std::string> names;
    for (const auto& link : links_of(entry)) names.push_back(name_of(link));
    labels.push_back(joined(names, "+"));
    ++count[labels.back()];
  }
  for (size_t i = 0; i < entries.size(); ++i) {
    const auto given = reserved(links_of(entries[i]), "label");
    const auto plain = plain_keys(entries[i]);
    if (given)
      labels[i] = given->text;
    else if (count[labels[i]] > 1 && !plain.empty())
      labels[i] += " " + plain;
  }
  return labels;
}

// The column of a choice inside a defense: "alpha" -> "ccl.alpha", "[1].epoch" ->
// "early_stopping.epoch", "with.train.epochs" -> "train.epochs".
std::string column(const std::string& path, const std::vector<Value>& chain) {
  size_t link = 0;
  std::string rest = path;
  if (path.starts_with("[")) {
    link = static_cast<size_t>(std::stoul(path.substr(1)));
    rest = path.substr(std::min(path.find('.'), path.size() - 1) + 1);
  }
  if (rest.starts_with("with.")) return rest.substr(5);
  return name_of(chain[link]) + "." + rest;
}

std::string written(const Value& value) {
  const auto number = as_number(value);
  return number ? canonical(*number) : value.is_scalar() ? value.text : to_flow(value);
}

// The sections that differ from point to point: what `with` may change and a sweep may stand in.
const std::set<std::string>& with_roots() {
  static const std::set<std::string> roots{"data",    "device", "measures", "model",
                                           "shadows", "target", "train"};
  return roots;
}

void apply_with(Value& root, const std::vector<Value>& chain, Problems& problems) {
  const auto with = reserved(chain, "with");
  if (!with) return;
  if (!with->is_map()) {
    problems.add(with->mark, "with must be a map of overrides, such as {train.epochs: 30}");
    return;
  }
  for (const auto& entry : with->entries) {
    const auto first = entry.key.substr(0, entry.key.find_first_of(".["));
    const std::vector<std::string> known(with_roots().begin(), with_roots().end());
    if (with_roots().contains(first))
      set_path(root, entry.key, entry.value, entry.mark);
    else
      problems.add(entry.mark, fmt::format("with cannot change '{}'{} (it can: {})", first,
                                           did_you_mean(first, known), joined(known)));
  }
}

void add_points(const Variant& base, const Value& entry, size_t number, const std::string& label,
                Problems& problems, std::vector<DefensePoint>& points) {
  for (const auto& variant : expand_sweeps(entry)) {
    DefensePoint point;
    point.root = base.value;
    point.chain = links_of(variant.value);
    point.mark = variant.value.mark;
    point.entry = number;
    point.is_chain = variant.value.is_list();
    point.label = label;
    apply_with(point.root, point.chain, problems);
    for (const auto& [path, value] : base.choices) point.swept.emplace_back(path, written(value));
    for (const auto& [path, value] : variant.choices)
      point.swept.emplace_back(column(path, point.chain), written(value));
    points.push_back(std::move(point));
  }
}

}  // namespace

std::vector<DefensePoint> defense_points(const Value& root, Problems& problems) {
  auto rest = root;
  std::erase_if(rest.entries, [](const Entry& entry) { return !with_roots().contains(entry.key); });
  auto none = Value::scalar("none");
  none.mark = root.mark;
  const auto* list = root.find("defenses");
  if (list != nullptr && list->items.empty())
    problems.add(list->mark, "defenses is empty; list at least none");
  const auto entries = list == nullptr ? std::vector<Value>{none} : list->items;
  const auto labels = entry_labels(entries);
  std::vector<DefensePoint> points;
  for (const auto& base : expand_sweeps(rest))
    for (size_t i = 0; i < entries.size(); ++i)
      add_points(base, entries[i], i, labels[i], problems, points);
  return points;
}

std::string choice_words(const std::vector<std::pair<std::string, Value>>& choices) {
  std::vector<std::string> words;
  for (const auto& [path, value] : choices)
    words.push_back(path.substr(path.find_last_of('.') + 1) + "=" + written(value));
  return joined(words, " ");
}

std::string unique_id(const std::string& label,
                      const std::vector<std::pair<std::string, std::string>>& swept, int64_t seed,
                      size_t number) {
  std::string id = fmt::format("{:03}-{}", number, label);
  for (const auto& [path, value] : swept)
    id += "-" + path.substr(path.find_last_of('.') + 1) + "=" + value;
  id += fmt::format("-seed{}", seed);
  for (auto& c : id) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '=' ||
                       c == '.' || c == '+';
    if (!plain) c = '_';
  }
  return id.substr(0, 120);
}

Value with_defaults(const Value& written, const Value& defaults) {
  if (!defaults.is_map()) return written;
  if (written.is_scalar()) return defaults;
  if (!written.is_map()) return written;
  auto all = written;
  for (const auto& entry : defaults.entries) {
    auto* found = all.find(entry.key);
    if (found == nullptr)
      all.set(entry.key, entry.value);
    else if (entry.value.is_map())
      *found = with_defaults(*found, entry.value);
    else if (found->is_scalar() && entry.value.is_scalar() && entry.value.text.starts_with('/'))
      *found = entry.value;  // a path as it was resolved: the file will lie elsewhere
  }
  return all;
}

Value agreed(const Value& a, const Value& b) {
  auto common = a;
  common.entries.clear();
  for (const auto& entry : a.entries) {
    const auto* other = b.find(entry.key);
    if (other == nullptr) continue;
    if (entry.value.is_map() && other->is_map())
      common.entries.push_back({entry.key, entry.mark, agreed(entry.value, *other)});
    else if (to_flow(entry.value) == to_flow(*other))
      common.entries.push_back(entry);
  }
  return common;
}

void Defaults::add(const std::string& key, const Value& resolved) {
  for (auto& [known, value] : sections_) {
    if (known != key) continue;
    value = agreed(value, resolved);
    return;
  }
  sections_.emplace_back(key, resolved);
}

void Defaults::write(Value& root) const {
  for (const auto& [path, defaults] : sections_) {
    auto* written = at_path(root, path);
    if (written == nullptr)
      set_path(root, path, defaults, {});
    else if (!written->sweep)
      *written = with_defaults(*written, defaults);
  }
}

}  // namespace imprint
