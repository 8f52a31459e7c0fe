#include <fmt/format.h>

#include <functional>

#include "framework/config/value.h"

namespace imprint {
namespace {

std::vector<Variant> product(std::vector<Variant> left, const std::vector<Variant>& right,
                             const std::function<void(Value&, const Value&)>& put) {
  std::vector<Variant> all;
  for (auto& l : left) {
    for (const auto& r : right) {
      Variant variant = l;
      put(variant.value, r.value);
      variant.choices.insert(variant.choices.end(), r.choices.begin(), r.choices.end());
      all.push_back(std::move(variant));
    }
  }
  return all;
}

std::vector<Variant> expand(const Value& value, const std::string& path) {
  if (value.sweep) {
    if (value.items.empty())
      throw ConfigError(value.mark.prefix() + "an empty !sweep; list its values");
    std::vector<Variant> all;
    for (const auto& item : value.items) {
      for (auto variant : expand(item, path)) {
        variant.choices.insert(variant.choices.begin(), {path, variant.value});
        all.push_back(std::move(variant));
      }
    }
    return all;
  }
  Value bare = value;
  bare.items.clear();
  bare.entries.clear();
  std::vector<Variant> all{{bare, {}}};
  for (const auto& entry : value.entries) {
    const auto inner = expand(entry.value, path.empty() ? entry.key : path + "." + entry.key);
    all = product(std::move(all), inner, [&](Value& to, const Value& chosen) {
      to.entries.push_back({entry.key, entry.mark, chosen});
    });
  }
  for (size_t i = 0; i < value.items.size(); ++i) {
    all = product(std::move(all), expand(value.items[i], fmt::format("{}[{}]", path, i)),
                  [](Value& to, const Value& chosen) { to.items.push_back(chosen); });
  }
  return all;
}

}  // namespace

std::vector<Variant> expand_sweeps(const Value& value) { return expand(value, ""); }

}  // namespace imprint
