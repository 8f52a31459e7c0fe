#include "framework/config/keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <type_traits>

namespace imprint {

/// Which keys of which nested map were read.
struct Keys::Sections {
  struct Section {
    const Value* map;
    std::set<std::string> read;
  };
  std::map<std::string, Section> by_prefix;
};

namespace {

template <class T>
std::optional<T> as(const Value& value) {
  if constexpr (std::is_same_v<T, double>) {
    return as_number(value);
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return as_integer(value);
  } else if constexpr (std::is_same_v<T, bool>) {
    return as_flag(value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    return value.is_scalar() ? std::optional(value.text) : std::nullopt;
  } else {
    if (!value.is_list()) return std::nullopt;
    T list;
    for (const auto& item : value.items) {
      const auto element = as<typename T::value_type>(item);
      if (!element) return std::nullopt;
      list.push_back(*element);
    }
    return list;
  }
}

template <class T>
Value canonical_value(const T& value) {
  if constexpr (std::is_same_v<T, double>) {
    return Value::scalar(canonical(value));
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return Value::scalar(std::to_string(value));
  } else if constexpr (std::is_same_v<T, bool>) {
    return Value::scalar(value ? "true" : "false");
  } else if constexpr (std::is_same_v<T, std::string>) {
    return Value::scalar(value, as_number(Value::scalar(value)).has_value());
  } else {
    std::vector<Value> items;
    for (const auto& element : value) items.push_back(canonical_value(element));
    return Value::list(std::move(items));
  }
}

std::string shown(const Value& value) {
  switch (value.kind) {
    case Value::Kind::null: return "empty";
    case Value::Kind::map: return "a map";
    default: return to_flow(value);
  }
}

template <class T>
std::string article(const std::string& type) {
  if constexpr (std::is_same_v<T, bool>) return type;
  return (type == "integer" ? "an " : "a ") + type;
}

}  // namespace

Value KeyLog::resolved() const {
  auto map = Value::map();
  for (const auto& read : values) set_path(map, read.path, read.value, {});
  return map;
}

std::string KeyLog::address(bool with_late) const {
  std::vector<std::string> lines;
  for (const auto& read : values)
    if (with_late || !read.late) lines.push_back(read.path + ": " + to_flow(read.value));
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
      const auto where = prefix.empty() ? reading_->owner
                                        : fmt::format("'{}' of {}", prefix.substr(0, prefix.size() - 1),
                                                      reading_->owner);
      reading_->problems->add(
          entry.mark, fmt::format("unknown key '{}' in {}{} ({})", entry.key, where,
                                  did_you_mean(entry.key, known),
                                  known.empty() ? "it has no keys" : "keys: " + joined(known)));
    }
  }
}

template <class T>
Key<T>::Key(Keys keys, std::string name, std::string type, std::optional<T> fallback)
    : keys_(std::move(keys)), name_(std::move(name)), fallback_(std::move(fallback)) {
  doc_.path = keys_.prefix_ + name_;
  doc_.type = std::move(type);
  doc_.fallback = fallback_ ? to_flow(canonical_value(*fallback_)) : "required";
}

template <class T>
Key<T>& Key<T>::within(double low, double high) {
  low_ = low;
  high_ = high;
  doc_.range = fmt::format("between {} and {}", low, high);
  return *this;
}

template <class T>
Key<T>& Key<T>::above(double low) {
  low_ = low;
  low_open_ = true;
  doc_.range = fmt::format("above {}", low);
  return *this;
}

template <class T>
Key<T>& Key<T>::at_least(double low) {
  low_ = low;
  doc_.range = fmt::format("at least {}", low);
  return *this;
}

template <class T>
Key<T>& Key<T>::late() {
  doc_.late = true;
  return *this;
}

template <class T>
Key<T>& Key<T>::doc(const std::string& text) {
  doc_.doc = text;
  return *this;
}

template <class T>
Key<T>::operator T() {
  const T value = read();
  keys_.reading_->docs.push_back(doc_);
  keys_.reading_->values.push_back({doc_.path, canonical_value(value), doc_.late});
  return value;
}

template <class T>
T Key<T>::read() {
  const T otherwise = fallback_.value_or(T{});
  const auto* written = keys_.raw(name_);
  if (written == nullptr) {
    if (!fallback_)
      keys_.problem(name_, fmt::format("{} needs the key '{}' ({})", keys_.reading_->owner, doc_.path,
                                       doc_.doc.empty() ? doc_.type : doc_.doc));
    return otherwise;
  }
  const auto value = as<T>(*written);
  if (!value) {
    keys_.problem(name_, fmt::format("{} must be {}, not {}", doc_.path, article<T>(doc_.type),
                                     shown(*written)));
    return otherwise;
  }
  return check(*value, written->mark) ? *value : otherwise;
}

template <class T>
bool Key<T>::check(const T& value, const Mark& mark) const {
  const auto refuse = [&](const std::string& must, const std::string& was) {
    keys_.reading_->problems->add(mark, fmt::format("{} must be {}, not {}", doc_.path, must, was));
    return false;
  };
  if constexpr (std::is_same_v<T, std::string>) {
    if (words_.empty() || std::find(words_.begin(), words_.end(), value) != words_.end()) return true;
    return refuse("one of " + joined(words_), fmt::format("'{}'{}", value, did_you_mean(value, words_)));
  } else if constexpr (std::is_same_v<T, bool>) {
    return true;
  } else if constexpr (std::is_arithmetic_v<T>) {
    const auto x = static_cast<double>(value);
    if (!std::isfinite(x)) return refuse("a finite number", fmt::format("{}", x));
    const bool low = low_ && (low_open_ ? x <= *low_ : x < *low_);
    if (low || (high_ && x > *high_)) return refuse(doc_.range, canonical_value(value).text);
    return true;
  } else {
    Key<typename T::value_type> element(keys_, name_, doc_.type, std::nullopt);
    element.low_ = low_;
    element.high_ = high_;
    element.low_open_ = low_open_;
    element.doc_ = doc_;
    element.doc_.path = "each of " + doc_.path;
    return std::all_of(value.begin(), value.end(),
                       [&](const auto& each) { return element.check(each, mark); });
  }
}

template class Key<double>;
template class Key<int64_t>;
template class Key<bool>;
template class Key<std::string>;
template class Key<std::vector<int64_t>>;
template class Key<std::vector<double>>;

std::shared_ptr<KeyLog> new_reading(std::string owner, Problems& problems) {
  auto reading = std::make_shared<KeyLog>();
  reading->owner = std::move(owner);
  reading->problems = &problems;
  return reading;
}

}  // namespace imprint
