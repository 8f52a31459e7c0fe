#include "framework/data/formats/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "framework/config/problems.h"

namespace imprint {
namespace {

static_assert(std::endian::native == std::endian::little, "cells are read eight at a time");

// Digits with at most one point among them, as a ratio of two integers that doubles hold exactly:
// the quotient is then the nearest double. Nothing when the text is longer or anything else.
std::optional<double> short_decimal(std::string_view digits) {
  if (digits.empty() || digits.size() > 16) return std::nullopt;
  uint64_t value = 0, scale = 1;
  size_t points = 0;
  for (const char c : digits) {
    if (c == '.' && ++points == 1) continue;
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + static_cast<uint64_t>(c - '0');
    if (points > 0) scale *= 10;
  }
  if (digits.size() == points || value > uint64_t{1} << 53) return std::nullopt;
  return static_cast<double>(value) / static_cast<double>(scale);
}

// Four cells of "0,1,1,0," as they lie in memory: their bits, or -1 when they are anything else.
int four_bits(const char* text, uint64_t zeros) {
  uint64_t word = 0;
  std::memcpy(&word, text, sizeof word);
  constexpr uint64_t ones = 0x0001'0001'0001'0001;
  word ^= zeros;
  if ((word & ~ones) != 0) return -1;
  // The product gathers bits 0, 16, 32 and 48 side by side, from bit 48 on.
  return static_cast<int>(word * 0x0001'0002'0004'0008 >> 48 & 15);
}

bool is_blank(char c, char delimiter) { return c == ' ' || (c == '\t' && delimiter != '\t'); }

}  // namespace

std::optional<double> number_in(std::string_view cell) {
  if (cell.size() == 1 && cell[0] >= '0' && cell[0] <= '9') return cell[0] - '0';
  auto digits = cell;
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  if (digits.empty() || (digits[0] != '.' && (digits[0] < '0' || digits[0] > '9')))
    return std::nullopt;
  if (const auto value = short_decimal(digits)) return negative ? -*value : *value;
  double value = 0;
  const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (rest != digits.data() + digits.size() || error == std::errc::invalid_argument)
    return std::nullopt;
  if (error == std::errc::result_out_of_range)
    value = std::strtod(std::string(digits).c_str(), nullptr);
  return negative ? -value : value;
}

void TableRow::start(std::string_view text, int64_t line) {
  line_ = line;
  begin_ = at_ = text.data();
  end_ = begin_ + text.size();
  cell_ = {};
  unquoted_.clear();
}

bool TableRow::next() {
  if (at_ == nullptr) return false;
  const auto* from = at_;
  while (from < end_ && is_blank(*from, delimiter_)) ++from;
  cell_.column = from - begin_ + 1;
  if (from < end_ && *from == '"') return next_quoted(from);
  const auto* to = from;
  while (to < end_ && *to != delimiter_) ++to;
  at_ = to == end_ ? nullptr : to + 1;
  while (to > from && is_blank(to[-1], delimiter_)) --to;
  cell_.text = {from, static_cast<size_t>(to - from)};
  return true;
}

bool TableRow::next_quoted(const char* open) {
  std::string_view rest(open + 1, static_cast<size_t>(end_ - open - 1));
  cell_.text = rest;
  std::string* unquoted = nullptr;
  for (;;) {
    const auto quote = rest.find('"');
    if (quote == std::string_view::npos) refuse("a quote is not closed on its line");
    const bool twice = quote + 1 < rest.size() && rest[quote + 1] == '"';
    if (twice && unquoted == nullptr) unquoted = &unquoted_.emplace_back();
    if (unquoted != nullptr) unquoted->append(rest.substr(0, quote + (twice ? 1 : 0)));
    if (!twice) {
      cell_.text.remove_suffix(rest.size() - quote);
      rest.remove_prefix(quote + 1);
      break;
    }
    rest.remove_prefix(quote + 2);
  }
  if (unquoted != nullptr) cell_.text = *unquoted;
  while (!rest.empty() && is_blank(rest[0], delimiter_)) rest.remove_prefix(1);
  if (!rest.empty() && rest[0] != delimiter_)
    refuse(fmt::format("{} follows on a closing quote",
                       excerpt(rest.substr(0, rest.find(delimiter_)))));
  at_ = rest.empty() ? nullptr : rest.data() + 1;
  return true;
}

int64_t TableRow::pack(uint8_t* to, int64_t count) {
  int64_t done = pack_eights(to, count);
  while (done < count && next()) {
    auto& byte = to[done >> 3];
    if (cell_.text == "1") {
      byte = static_cast<uint8_t>(byte | 1 << (done & 7));
    } else if (cell_.text != "0") {
      const auto value = number_in(cell_.text);
      if (value != 0 && value != 1)
        refuse(fmt::format("{} is no binary feature, expected 0 or 1", excerpt(cell_.text)));
      byte = static_cast<uint8_t>(byte | static_cast<int>(*value) << (done & 7));
    }
    ++done;
    if ((done & 7) == 0) done += pack_eights(to + done / 8, count - done);
  }
  return done;
}

// The same for cells of one character, as long as they come in eights and are not the last.
int64_t TableRow::pack_eights(uint8_t* to, int64_t count) {
  if (at_ == nullptr) return 0;
  const auto zeros =
      (uint64_t{'0'} | static_cast<uint64_t>(static_cast<unsigned char>(delimiter_)) << 8) *
      0x0001'0001'0001'0001;
  int64_t done = 0;
  for (; count - done >= 8 && end_ - at_ >= 16; at_ += 16, done += 8) {
    const int low = four_bits(at_, zeros), high = four_bits(at_ + 8, zeros);
    if (low < 0 || high < 0) break;
    *to++ = static_cast<uint8_t>(low | high << 4);
  }
  return done;
}

void TableRow::refuse(const TableCell& cell, const std::string& why) const {
  throw ConfigError(fmt::format("{}:{}:{}: {}", file_, line_, cell.column, why));
}

void TableRow::refuse_line(const std::string& why) const {
  throw ConfigError(fmt::format("{}:{}: {}", file_, line_, why));
}

TableReader::TableReader(ByteSource& source, char delimiter) : lines_(source) {
  row_.file_ = source.name();
  row_.delimiter_ = delimiter;
}

TableRow* TableReader::next() {
  int64_t blank = 0;
  while (const auto line = lines_.next()) {
    const bool empty = std::all_of(line->begin(), line->end(),
                                   [&](char c) { return is_blank(c, row_.delimiter_); });
    if (empty) {
      blank = blank > 0 ? blank : lines_.number();
      continue;
    }
    row_.start(*line, lines_.number());
    if (blank == 0) return &row_;
    row_.line_ = blank;
    row_.refuse_line("is blank, and the table goes on after it");
  }
  return nullptr;
}

}  // namespace imprint
