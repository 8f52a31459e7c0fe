#include "framework/config/keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace imprint {

/// Which keys of which nested map were read.
struct Keys::Sections {
  struct Section {
    const Value* map;
    std::set<std::string> read;
  };
  std::map<std::string, Section> by_prefix;
};

Value KeyLog::resolved() const {
  auto map = Value::map();
  for (const auto& read : values) set_path(map, read.path, read.value, {});
  return map;
}

std::string KeyLog::address(bool with_late) const {
  std::vector<std::string> lines;
  for (const auto& read : values)
    if (with_late || !read.late)
      lines.push_back(read.path + ": " +
                      (read.contents.empty() ? to_flow(read.value) : read.contents));
  std::sort(lines.begin(), lines.end());
  return joined(lines, "\n");
}

Keys::Keys(const Value& map, std::shared_ptr<KeyLog> reading)
    : map_(&map), reading_(std::move(reading)), sections_(std::make_shared<Sections>()) {
  sections_->by_prefix[""] = {map_, {}};
}

Key<double> Keys::number(const std::string& name, double fallback) {
  return {*this, name, "number", fallback};
}
Key<double> Keys::number(const std::string& name) { return {*this, name, "number", std::nullopt}; }
Key<int64_t> Keys::integer(const std::string& name, int64_t fallback) {
  return {*this, name, "integer", fallback};
}
Key<int64_t> Keys::integer(const std::string& name) {
  return {*this, name, "integer", std::nullopt};
}
Key<bool> Keys::flag(const std::string& name, bool fallback) {
  return {*this, name, "true or false", fallback};
}
Key<std::string> Keys::text(const std::string& name, std::string fallback) {
  return {*this, name, "text", std::move(fallback)};
}
Key<std::string> Keys::text(const std::string& name) { return {*this, name, "text", std::nullopt}; }
Key<std::string> Keys::path(const std::string& name, std::string fallback) {
  return {*this, name, "path", std::move(fallback)};
}
Key<std::string> Keys::path(const std::string& name) { return {*this, name, "path", std::nullopt}; }
Key<std::string> Keys::choice(const std::string& name, std::vector<std::string> words) {
  Key<std::string> key(*this, name, "choice", words.front());
  key.doc_.range = joined(words, " | ");
  key.words_ = std::move(words);
  return key;
}
Key<std::vector<int64_t>> Keys::integers(const std::string& name, std::vector<int64_t> fallback) {
  return {*this, name, "list of integers", std::move(fallback)};
}
Key<std::vector<double>> Keys::numbers(const std::string& name, std::vector<double> fallback) {
  return {*this, name, "list of numbers", std::move(fallback)};
}

Key<std::vector<std::string>> Keys::texts(const std::string& name,
                                          std::vector<std::string> fallback) {
  return {*this, name, "list of texts", std::move(fallback)};
}

Keys Keys::section(const std::string& name) {
  static const Value nothing;
  const auto* inner = raw(name);
  if (inner != nullptr && !inner->is_map() && inner->kind != Value::Kind::null) {
    problem(name, fmt::format("{} must be a map of keys, not {}", prefix_ + name, shown(*inner)));
    inner = nullptr;
  }
  Keys keys = *this;
  keys.map_ = inner == nullptr ? &nothing : inner;
  keys.prefix_ = prefix_ + name + ".";
  keys.sections_->by_prefix[keys.prefix_].map = keys.map_;
  return keys;
}

const Value* Keys::raw(const std::string& name) {
  sections_->by_prefix[prefix_].map = map_;
  sections_->by_prefix[prefix_].read.insert(name);
  return map_->find(name);
}

Mark Keys::mark(const std::string& name) const {
  const auto* value = map_->find(name);
  return value == nullptr ? map_->mark : value->mark;
}

void Keys::problem(const std::string& name, const std::string& message) {
  reading_->problems->add(mark(name), message);
}

void Keys::finish() {
  for (const auto& [prefix, section] : sections_->by_prefix) {
    for (const auto& entry : section.map->entries) {
      if (section.read.contains(entry.key)) continue;
      const std::vector<std::string> known(section.read.begin(), section.read.end());
      const auto where =
          prefix.empty()
              ? reading_->owner
              : fmt::format("'{}' of {}", prefix.substr(0, prefix.size() - 1), reading_->owner);
      reading_->problems->add(
          entry.mark, fmt::format("unknown key '{}' in {}{} ({})", entry.key, where,
                                  did_you_mean(entry.key, known),
                                  known.empty() ? "it has no keys" : "keys: " + joined(known)));
    }
  }
}

std::shared_ptr<KeyLog> new_reading(std::string owner, Problems& problems) {
  auto reading = std::make_shared<KeyLog>();
  reading->owner = std::move(owner);
  reading->problems = &problems;
  return reading;
}

}  // namespace imprint
