#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "framework/reports/summary.h"
#include "framework/reports/tables.h"

namespace imprint {
namespace {

/// A column of the table. The ones with the largest `expendable` are left out first; those with 0
/// always stay.
struct Column {
  std::string title;
  int expendable = 0;
  std::function<std::string(const Summary&)> cell;
};

/// Characters on the screen: labels may hold UTF-8, whose continuation bytes take no room.
size_t displayed(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

/// Brackets mark an interval over repetitions, parentheses one over records.
std::string with_interval(const Spread& spread) {
  const auto mean = decimals(spread.mean);
  if (spread.repeats) return fmt::format("{} [{}]", mean, decimals(*spread.repeats));
  if (spread.records) return fmt::format("{} ({})", mean, decimals(*spread.records));
  return mean;
}

std::string advantage(const Summary& row) {
  const auto* attack = row.strongest();
  return attack ? with_interval(attack->advantage) : "no attack";
}

std::string attack_name(const Summary& row) {
  const auto* attack = row.strongest();
  return attack ? attack->attack : "";
}

std::string auc(const Summary& row) {
  const auto* attack = row.strongest();
  return attack ? decimals(attack->auc.mean) : "";
}

std::string tpr_at_one_percent(const Summary& row) {
  const auto* attack = row.strongest();
  const auto levels = reported_fprs();
  const auto level = std::find(levels.begin(), levels.end(), 0.01) - levels.begin();
  if (!attack || level == static_cast<ptrdiff_t>(attack->tpr_at.size())) return "";
  const auto& tpr = attack->tpr_at[static_cast<size_t>(level)];
  return tpr ? decimals(tpr->mean) : "n too small";
}

std::string p1(const Summary& row) { return row.p1_cell ? with_interval(*row.p1_cell) : ""; }

std::vector<Column> all_columns() {
  return {{"data", 0, [](const Summary& row) { return row.cell().data; }},
          {"model", 0, [](const Summary& row) { return row.cell().model; }},
          {"defense", 0, [](const Summary& row) { return row.cell().label; }},
          {"setting", 0, [](const Summary& row) { return swept_text(row.cell()); }},
          {"train", 5, [](const Summary& row) { return decimals(row.train_accuracy.mean); }},
          {"test", 0, [](const Summary& row) { return decimals(row.test_accuracy.mean); }},
          {"advantage", 0, advantage},
          {"attack", 1, attack_name},
          {"AUC", 4, auc},
          {"TPR@1%FPR", 3, tpr_at_one_percent},
          {"P1", 2, p1}};
}

/// Data and model are only worth a column where they differ, the setting where there is one.
bool says_something(const Column& column, const std::vector<Summary>& rows) {
  if (column.title == "setting") {
    return std::any_of(rows.begin(), rows.end(),
                       [&](const Summary& row) { return !column.cell(row).empty(); });
  }
  if (column.title != "data" && column.title != "model") return true;
  return std::any_of(rows.begin(), rows.end(), [&](const Summary& row) {
    return column.cell(row) != column.cell(rows.front());
  });
}

using Lines = std::vector<std::vector<std::string>>;

std::vector<size_t> widths(const Lines& lines) {
  std::vector<size_t> result(lines.front().size());
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) result[i] = std::max(result[i], displayed(line[i]));
  }
  return result;
}

Lines filled(const std::vector<Column>& columns, const std::vector<Summary>& rows) {
  Lines lines(1);
  for (const auto& column : columns) lines.front().push_back(column.title);
  for (const auto& row : rows) {
    lines.emplace_back();
    for (const auto& column : columns) lines.back().push_back(column.cell(row));
  }
  return lines;
}

Lines fitted(const std::vector<Summary>& rows, size_t width) {
  auto columns = all_columns();
  std::erase_if(columns, [&](const Column& column) { return !says_something(column, rows); });
  while (true) {
    auto lines = filled(columns, rows);
    size_t total = 0;
    for (const size_t column : widths(lines)) total += column + 2;
    const auto victim = std::max_element(
        columns.begin(), columns.end(),
        [](const Column& a, const Column& b) { return a.expendable < b.expendable; });
    if (total <= width + 2 || victim->expendable == 0) return lines;
    columns.erase(victim);
  }
}

std::string aligned(const Lines& lines) {
  const auto column_widths = widths(lines);
  std::string text;
  for (size_t row = 0; row < lines.size(); ++row) {
    std::string line;
    for (size_t i = 0; i < column_widths.size(); ++i) {
      const auto& cell = lines[row][i];
      line += cell + std::string(column_widths[i] - displayed(cell) + 2, ' ');
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
    if (row > 0) continue;
    for (const size_t column : column_widths) text += std::string(column, '-') + "  ";
    text.replace(text.size() - 2, 2, "\n");
  }
  return text;
}

std::string wrapped(const std::string& text, size_t width) {
  std::string result, line;
  for (size_t start = 0; start < text.size();) {
    const auto end = std::min(text.find(' ', start), text.size());
    const auto word = text.substr(start, end - start);
    if (!line.empty() && line.size() + 1 + word.size() > width) {
      result += line + '\n';
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
    start = end + 1;
  }
  return result + line + '\n';
}

std::string legend(const std::vector<Summary>& rows) {
  std::string repeated;
  bool single = false;
  for (const auto& row : rows) {
    if (row.test_accuracy.repeats) repeated = row.test_accuracy.over;
    if (!row.test_accuracy.repeats) single = true;
  }
  std::string text = "The strongest attack of each row.";
  if (!repeated.empty()) {
    text += fmt::format(" [low, high]: 95 % Student interval of the mean over {}.", repeated);
  }
  if (single) {
    text +=
        " (low, high): 95 % interval over the records of one model; it says nothing about another "
        "seed.";
  }
  return text;
}

}  // namespace

std::string console_table(const Results& results, int width) {
  const auto rows = summarise(results);
  if (rows.empty()) return "No cell has finished.\n";
  const auto columns = static_cast<size_t>(std::max(width, 1));
  return aligned(fitted(rows, columns)) + wrapped(legend(rows), columns);
}

}  // namespace imprint
