#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "framework/config/keys.h"

namespace imprint {

std::string canonical(double value) {
  // -0.0 and 0.0 are the same setting.
  if (value == 0) return "0";
  if (std::isnan(value)) return ".nan";
  if (std::isinf(value)) return value > 0 ? ".inf" : "-.inf";
  return fmt::format("{}", value);
}

std::optional<double> as_number(const Value& value) {
  if (!value.is_scalar() || value.quoted || value.text.empty()) return std::nullopt;
  auto text = value.text;
  if (text.front() == '+') text.erase(0, 1);
  const bool negative = !text.empty() && text.front() == '-';
  const auto word = negative ? text.substr(1) : text;
  if (word == ".inf" || word == ".Inf" || word == ".INF")
    return negative ? -std::numeric_limits<double>::infinity()
                    : std::numeric_limits<double>::infinity();
  if (word == ".nan" || word == ".NaN" || word == ".NAN")
    return std::numeric_limits<double>::quiet_NaN();
  double number = 0;
  const auto* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (rest != end) return std::nullopt;
  if (error == std::errc::result_out_of_range) return std::numeric_limits<double>::infinity();
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

std::optional<int64_t> as_integer(const Value& value) {
  const auto number = as_number(value);
  if (!number) return std::nullopt;
  int64_t exact = 0;
  const auto& text = value.text;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), exact);
  if (error == std::errc() && rest == text.data() + text.size()) return exact;
  // 1e3 is a fine way to write a thousand.
  const bool whole =
      std::isfinite(*number) && std::abs(*number) < 9e15 && *number == std::floor(*number);
  return whole ? std::optional(static_cast<int64_t>(*number)) : std::nullopt;
}

std::optional<bool> as_flag(const Value& value) {
  if (!value.is_scalar() || value.quoted) return std::nullopt;
  const auto& text = value.text;
  if (text == "true" || text == "yes" || text == "on") return true;
  if (text == "false" || text == "no" || text == "off") return false;
  return std::nullopt;
}

std::string shown(const Value& value) {
  switch (value.kind) {
    case Value::Kind::null:
      return "empty";
    case Value::Kind::map:
      return "a map";
    default:
      return to_flow(value);
  }
}

}  // namespace imprint
