#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "framework/reports/html.h"
#include "framework/reports/matched_utility.h"

namespace imprint {
namespace {

const char* const kMatchedLegend =
    "A defense may leak less only because it is less accurate. Here curves (the settings of one "
    "defense) are compared at test accuracies that both reach, run by run: by the lowest advantage "
    "of a setting that is at least so accurate, with straight lines between settings and nothing "
    "beyond them. Means over the runs that share the accuracy; below 0 the first one leaks less. "
    "[low, high]: Student's 95 % interval over seeds (or targets), paired. (low, high): with a "
    "single seed, 95 % by a parametric bootstrap over records with 1,000 resamples, wide rather "
    "than narrow; it says nothing about another seed. The best settings are chosen on these same "
    "numbers, which flatters a little, and a curve of many settings more. Of many intervals, one "
    "in twenty misses by chance.";

using Pairs = std::vector<MatchedPair>;

std::string text_cell(const std::string& text) { return fmt::format("<td>{}</td>", escaped(text)); }

/// "2 of 3 seeds", or nothing where all of them share the accuracy.
std::string runs_note(const MatchedPair& pair, const Spread& spread) {
  if (spread.repetitions >= pair.repetitions) return "";
  return fmt::format("<small>{} of {} {}</small>", spread.repetitions, pair.repetitions, pair.over);
}

/// Brackets for repetitions, parentheses for records, as in the table of results.
std::string difference_cell(const MatchedPair& pair,
                            const std::optional<MatchedDifference>& difference, bool with_place) {
  if (!difference) return "<td class=\"missing\" data-sort=\"\">not shared</td>";
  const auto& spread = difference->spread;
  auto html = fmt::format("<td data-sort=\"{}\">{}", spread.mean, decimals(spread.mean));
  if (spread.repeats)
    html += fmt::format("<small>[{}]</small>", decimals(*spread.repeats));
  else if (spread.records)
    html += fmt::format("<small>({})</small>", decimals(*spread.records));
  if (with_place) html += fmt::format("<small>at {}</small>", decimals(difference->accuracy));
  return html + runs_note(pair, spread) + "</td>";
}

std::string shared_cell(const MatchedPair& pair) {
  if (!pair.shared) return "<td class=\"missing\" data-sort=\"\">none in common</td>";
  const auto low = decimals(pair.shared->low), high = decimals(pair.shared->high);
  return fmt::format("<td data-sort=\"{}\">{}</td>", pair.shared->low,
                     low == high ? low : fmt::format("{} to {}", low, high));
}

std::string order_cell(const MatchedPair& pair) {
  if (!pair.shared) return "<td></td>";
  const auto* words = pair.order < 0 ? "always less" : pair.order > 0 ? "always more" : "varies";
  return fmt::format("<td>{}</td>", words);
}

std::string pair_row(const MatchedPair& pair, bool with_attack) {
  auto html = "<tr>" + (with_attack ? text_cell(pair.attack) : "");
  html += text_cell(pair.own) + text_cell(pair.rival);
  html += shared_cell(pair) + difference_cell(pair, pair.undefended, true);
  html += difference_cell(pair, pair.middle, true) + difference_cell(pair, pair.mean, false);
  return html + order_cell(pair) + "</tr>\n";
}

std::string table_of(const std::vector<std::string>& titles, const std::string& rows) {
  std::string html = "<div class=\"scroll\"><table class=\"sortable\">\n<thead><tr>";
  for (const auto& title : titles) html += fmt::format("<th scope=\"col\">{}</th>", title);
  return html + "</tr></thead>\n<tbody>\n" + rows + "</tbody></table></div>\n";
}

std::string pair_table(const Pairs& pairs, bool with_attack) {
  std::vector<std::string> titles = {
      "defense",       "compared with",   "accuracies of both", "at the undefended accuracy",
      "in the middle", "mean over these", "at every one"};
  if (with_attack) titles.insert(titles.begin(), "attack");
  std::string rows;
  for (const auto& pair : pairs) rows += pair_row(pair, with_attack);
  return table_of(titles, rows);
}

std::string details(const std::string& title, const std::string& html) {
  return fmt::format("<details>\n<summary>{}</summary>\n{}</details>\n", title, html);
}

std::string sentences_html(const Pairs& pairs) {
  std::string html = "<ul>\n";
  for (const auto& pair : pairs)
    html += fmt::format("<li>{}</li>\n", escaped(matched_sentence(pair)));
  return html + "</ul>\n";
}

std::vector<Task> tasks_of(const Pairs& all) {
  std::vector<Task> tasks;
  for (const auto& pair : all)
    if (std::none_of(tasks.begin(), tasks.end(),
                     [&](const Task& task) { return same_task(pair.task, task); }))
      tasks.push_back(pair.task);
  return tasks;
}

Pairs pairs_of(const Task& task, const Pairs& all) {
  Pairs pairs;
  std::copy_if(all.begin(), all.end(), std::back_inserter(pairs),
               [&](const MatchedPair& pair) { return same_task(pair.task, task); });
  return pairs;
}

std::string pareto_html(const std::vector<ParetoSetting>& front, const Task& task) {
  std::string rows;
  for (const auto& each : front) {
    if (!same_task(each.task, task)) continue;
    rows += fmt::format("<tr{}>", each.undefended ? " class=\"undefended\"" : "");
    rows += text_cell(each.setting) + text_cell(each.attack);
    rows += fmt::format("<td>{}</td><td>{}</td></tr>\n", decimals(each.accuracy.mean),
                        decimals(each.advantage.mean));
  }
  return "<p>Settings that no other one beats (at least as accurate, no more leakage, better in "
         "one of both; by the means):</p>\n" +
         table_of({"setting", "strongest attack", "test acc.", "advantage"}, rows);
}

/// Empty where there is only one attack, which is the strongest.
Pairs pairs_under_each_attack(const Results& results) {
  const auto attacks = attacks_of(results);
  Pairs all;
  if (attacks.size() < 2) return all;
  for (const auto& attack : attacks)
    for (auto& pair : matched_pairs(results, attack)) all.push_back(std::move(pair));
  return all;
}

std::string task_html(const Pairs& pairs, const Pairs& by_attack, const std::string& pareto) {
  const bool any = std::any_of(pairs.begin(), pairs.end(),
                               [](const MatchedPair& pair) { return pair.shared.has_value(); });
  if (!any)
    return "<p>No two of these curves share an accuracy, so they cannot be compared at matched "
           "utility.</p>\n" +
           pareto;
  const auto leading = leading_sentence(pairs);
  auto html = leading.empty() ? "" : fmt::format("<p>{}</p>\n", escaped(leading));
  html += pair_table(pairs, false) + pareto + details("In words", sentences_html(pairs));
  return by_attack.empty() ? html
                           : html + details("Under each attack", pair_table(by_attack, true));
}

}  // namespace

std::string matched_html(const Results& results) {
  const auto pairs = matched_pairs(results);
  if (pairs.empty()) return "";
  const auto by_attack = pairs_under_each_attack(results);
  const auto front = pareto_front(results);
  const auto tasks = tasks_of(pairs);
  auto html = fmt::format("<h2>At equal accuracy</h2>\n<p class=\"soft\">{}</p>\n", kMatchedLegend);
  for (const auto& task : tasks) {
    if (tasks.size() > 1) html += fmt::format("<h3>{}</h3>\n", escaped(task_text(task, tasks)));
    html += task_html(pairs_of(task, pairs), pairs_of(task, by_attack), pareto_html(front, task));
  }
  return html;
}

}  // namespace imprint
