#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <type_traits>

#include "framework/config/digest.h"
#include "framework/config/keys.h"

namespace imprint {
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

template <class T>
std::string article(const std::string& type) {
  if constexpr (std::is_same_v<T, bool>) return type;
  return (type == "integer" ? "an " : "a ") + type;
}

std::string resolved_path(const std::string& written, const Mark& mark) {
  namespace fs = std::filesystem;
  if (written.empty()) return written;
  const bool in_file = mark.line > 0 && !mark.file.empty();
  const auto folder = in_file ? fs::path(mark.file).parent_path() : fs::path();
  return fs::absolute(folder / written).lexically_normal().string();
}

}  // namespace

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
Key<T>& Key<T>::digested() {
  digested_ = true;
  return *this;
}

template <class T>
Key<T>& Key<T>::doc(const std::string& text) {
  doc_.doc = text;
  return *this;
}

template <class T>
Key<T>::operator T() {
  T value = read();
  std::string contents;
  if constexpr (std::is_same_v<T, std::string>) {
    if (doc_.type == "path") value = resolved_path(value, keys_.mark(name_));
    if (digested_) contents = file_digest(value);
  }
  keys_.reading_->docs.push_back(doc_);
  keys_.reading_->values.push_back({doc_.path, canonical_value(value), doc_.late, contents});
  return value;
}

template <class T>
T Key<T>::read() {
  const T otherwise = fallback_.value_or(T{});
  const auto* written = keys_.raw(name_);
  if (written == nullptr) {
    if (!fallback_)
      keys_.problem(name_, fmt::format("{} needs the key '{}' ({})", keys_.reading_->owner,
                                       doc_.path, doc_.doc.empty() ? doc_.type : doc_.doc));
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
    if (words_.empty() || std::find(words_.begin(), words_.end(), value) != words_.end())
      return true;
    return refuse("one of " + joined(words_),
                  fmt::format("'{}'{}", value, did_you_mean(value, words_)));
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
template class Key<std::vector<std::string>>;

}  // namespace imprint
