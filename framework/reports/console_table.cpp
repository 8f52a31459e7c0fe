#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "framework/reports/summary.h"
#include "framework/reports/tables.h"

namespace imprint {
namespace {

/// One line of a table: a setting and an attack on it, null if there is none.
struct Line {
  const Summary& row;
  const AttackSummary* attack;
};

/// A column of the table. The ones with the largest `expendable` are left out first; those with 0
/// always stay.
struct Column {
  std::string title;
  int expendable = 0;
  std::function<std::string(const Line&)> cell;
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

std::string mean_or_nothing(const std::optional<Spread>& spread) {
  return spread ? decimals(spread->mean) : "";
}

std::string advantage(const Line& line) {
  if (!line.attack) return "no attack";
  return line.attack->advantage ? with_interval(*line.attack->advantage) : "no threshold";
}

std::string attack_name(const Line& line) { return line.attack ? line.attack->attack : ""; }

std::string auc(const Line& line) { return line.attack ? decimals(line.attack->auc.mean) : ""; }

std::string tpr_text(double fpr, const Line& line) {
  const auto levels = reported_fprs();
  const auto level = std::find(levels.begin(), levels.end(), fpr) - levels.begin();
  if (!line.attack || level == static_cast<ptrdiff_t>(line.attack->tpr_at.size())) return "";
  const auto& tpr = line.attack->tpr_at[static_cast<size_t>(level)];
  return tpr ? decimals(tpr->mean) : "n too small";
}

std::string tpr_at_one_percent(const Line& line) { return tpr_text(0.01, line); }

std::string p1(const Line& line) {
  return line.row.p1_cell ? with_interval(*line.row.p1_cell) : "";
}

std::vector<Column> columns_per_setting() {
  return {{"data", 0, [](const Line& line) { return line.row.cell().data; }},
          {"model", 0, [](const Line& line) { return line.row.cell().model; }},
          {"defense", 0, [](const Line& line) { return line.row.cell().label; }},
          {"setting", 0, [](const Line& line) { return swept_text(line.row.cell()); }},
          {"train", 5, [](const Line& line) { return mean_or_nothing(line.row.train_accuracy); }},
          {"test", 0, [](const Line& line) { return mean_or_nothing(line.row.test_accuracy); }},
          {"advantage", 0, advantage},
          {"attack", 1, attack_name},
          {"AUC", 4, auc},
          {"TPR@1%FPR", 3, tpr_at_one_percent},
          {"P1", 2, p1}};
}

std::vector<Column> columns_per_attack() {
  return {
      {"attack", 0, attack_name},
      {"AUC", 0, [](const Line& line) { return with_interval(line.attack->auc); }},
      {"TPR@0.1%FPR", 2, [](const Line& line) { return tpr_text(0.001, line); }},
      {"TPR@1%FPR", 1, tpr_at_one_percent},
      {"advantage", 0, advantage},
      {"at best", 3, [](const Line& line) { return decimals(line.attack->advantage_best.mean); }},
      {"P1", 4, [](const Line& line) { return mean_or_nothing(line.attack->p1); }}};
}

/// Data and model are only worth a column where they differ, the setting where there is one.
bool says_something(const Column& column, const std::vector<Line>& rows) {
  if (column.title == "setting" || column.title == "P1") {
    return std::any_of(rows.begin(), rows.end(),
                       [&](const Line& row) { return !column.cell(row).empty(); });
  }
  if (column.title != "data" && column.title != "model") return true;
  return std::any_of(rows.begin(), rows.end(), [&](const Line& row) {
    return column.cell(row) != column.cell(rows.front());
  });
}

using Texts = std::vector<std::vector<std::string>>;

std::vector<size_t> widths(const Texts& lines) {
  std::vector<size_t> result(lines.front().size());
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) result[i] = std::max(result[i], displayed(line[i]));
  }
  return result;
}

Texts filled(const std::vector<Column>& columns, const std::vector<Line>& rows) {
  Texts lines(1);
  for (const auto& column : columns) lines.front().push_back(column.title);
  for (const auto& row : rows) {
    lines.emplace_back();
    for (const auto& column : columns) lines.back().push_back(column.cell(row));
  }
  return lines;
}

Texts fitted(std::vector<Column> columns, const std::vector<Line>& rows, size_t width) {
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

std::string aligned(const Texts& lines) {
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

std::string bullet(const std::string& note, size_t width) {
  std::string text = "- ";
  for (const char c : wrapped(note, width - 2)) text += c == '\n' ? "\n  " : std::string(1, c);
  return text.substr(0, text.size() - 2);
}

const char* const kAttackLegend =
    "(low, high): 95 % interval over these records. At best: the advantage at a threshold chosen "
    "with the answers in hand, so optimistic.";

std::string legend(const std::vector<Summary>& rows) {
  std::string repeated;
  bool single = false;
  for (const auto& row : rows) {
    const auto* spread = row.repeated();
    if (spread && spread->repeats) repeated = spread->over;
    if (!spread || !spread->repeats) single = true;
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
  std::vector<Line> lines;
  for (const auto& row : rows) lines.push_back({row, row.strongest()});
  const auto columns = static_cast<size_t>(std::max(width, 1));
  return aligned(fitted(columns_per_setting(), lines, columns)) + wrapped(legend(rows), columns);
}

std::string console_report(const Results& results, int width) {
  const auto columns = static_cast<size_t>(std::max(width, 3));
  const auto rows = summarise(results);
  std::vector<Line> lines;
  for (const auto& row : rows)
    for (const auto& attack : row.attacks) lines.push_back({row, &attack});
  std::string text;
  for (const auto& paragraph : findings(results)) text += wrapped(paragraph, columns) + '\n';
  if (!lines.empty())
    text += aligned(fitted(columns_per_attack(), lines, columns)) + wrapped(kAttackLegend, columns);
  if (!results.notes.empty()) text += "\nWhat to know about these numbers:\n";
  for (const auto& note : results.notes) text += bullet(note, columns);
  return text;
}

}  // namespace imprint
