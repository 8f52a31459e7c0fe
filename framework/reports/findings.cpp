#include <fmt/format.h>

#include <algorithm>

#include "framework/reports/ground.h"
#include "framework/reports/matched_utility.h"
#include "framework/reports/summary.h"

namespace imprint {
namespace {

using Rows = std::vector<const Summary*>;

std::string between(double mean, const Interval& interval, const std::string& over) {
  return fmt::format("{} (95 % over {}: {} to {})", decimals(mean), over, decimals(interval.low),
                     decimals(interval.high));
}

std::string measured(const Spread& spread) {
  if (spread.repeats) {
    return between(spread.mean, *spread.repeats, spread.over);
  }
  if (spread.records) {
    return between(spread.mean, *spread.records, "records");
  }
  return decimals(spread.mean);
}

double leakage(const Summary& row) { return row.strongest()->advantage->mean; }

/// Several undefended settings come from sweeps of the training: the most accurate one is the bar
/// that a defense has to reach.
const Summary* baseline(const Rows& rows) {
  const Summary* best = nullptr;
  for (const auto* row : rows) {
    if (!row->undefended()) continue;
    if (!best || row->test_accuracy->mean > best->test_accuracy->mean) best = row;
  }
  return best;
}

std::string attacked(const Summary& row) {
  const auto* strongest = row.strongest();
  if (!strongest) return "It was not attacked, so nothing is known about what it leaks.";
  return fmt::format(
      "The strongest of {} is {}, with a membership advantage of {}, on {} members and {} "
      "non-members and {}.",
      counted(static_cast<int64_t>(row.attacks.size()), "attack"), strongest->attack,
      measured(*strongest->advantage), strongest->members, strongest->non_members,
      counted(row.test_accuracy->repetitions,
              row.test_accuracy->over == "seeds" ? "seed" : "target"));
}

std::string best_defense(const Rows& rows, const Summary& bar) {
  Rows defended, useful;
  for (const auto* row : rows) {
    if (row->undefended() || !row->strongest()) continue;
    defended.push_back(row);
    if (row->test_accuracy->mean >= bar.test_accuracy->mean) useful.push_back(row);
  }
  if (defended.empty()) return "No defended model was attacked.";
  const auto count = counted(static_cast<int64_t>(defended.size()), "defended setting");
  if (useful.empty()) {
    return fmt::format("Of {}, none keeps the undefended test accuracy.", count);
  }
  const auto& best = **std::min_element(useful.begin(), useful.end(),
                                        [](auto* a, auto* b) { return leakage(*a) < leakage(*b); });
  const auto* verb = leakage(best) < leakage(bar) ? "leaks least" : "leaks least, but no less";
  return fmt::format(
      "Of {}, {} no less accurate; of these {} {}: test accuracy {}, advantage {} with {} as its "
      "strongest attack. (Chosen on these same numbers, so a little flattering.)",
      count, useful.size() == 1 ? "one is" : fmt::format("{} are", useful.size()),
      setting_text(best.cell()), verb, decimals(best.test_accuracy->mean),
      measured(*best.strongest()->advantage), best.strongest()->attack);
}

std::string without_baseline(const Rows& rows) {
  const Summary* leakiest = nullptr;
  for (const auto* row : rows) {
    if (row->strongest() && (!leakiest || leakage(*row) > leakage(*leakiest))) leakiest = row;
  }
  const std::string absent =
      "No undefended model is among the results, so nothing says what a "
      "defense gains.";
  if (!leakiest) return absent + " No attack was run.";
  return fmt::format("{} The most leaking setting is {}. {}", absent,
                     setting_text(leakiest->cell()), attacked(*leakiest));
}

/// Of a model about which nothing is known but what it answers.
std::string outputs(const Summary& row) {
  auto text = fmt::format("Outputs of a model, from {}. ", row.cell().data);
  if (row.train_accuracy && row.test_accuracy)
    text += fmt::format("It is right about {} of the members and {} of the others. ",
                        decimals(row.train_accuracy->mean), measured(*row.test_accuracy));
  const auto* strongest = row.strongest();
  if (!strongest) return text + "It was not attacked, so nothing is known about what it leaks.";
  const auto advantage = strongest->advantage ? fmt::format("a membership advantage of {} and ",
                                                            measured(*strongest->advantage))
                                              : "";
  return text +
         fmt::format(
             "The strongest of {} is {}, with {}an AUC of {}, on {} members and {} non-members.",
             counted(static_cast<int64_t>(row.attacks.size()), "attack"), strongest->attack,
             advantage, measured(strongest->auc), strongest->members, strongest->non_members);
}

/// The closest race at the undefended accuracy, with a space before it; empty where there is none.
std::string matched(const Task& task, std::vector<MatchedPair> pairs) {
  std::erase_if(pairs, [&](const MatchedPair& pair) { return !same_task(pair.task, task); });
  const auto sentence = leading_sentence(pairs);
  return sentence.empty() ? "" : ' ' + sentence;
}

/// `name` says what data and model the rows are of.
std::string paragraph(const Rows& rows, const std::string& name) {
  if (rows.front()->cell().foreign()) return outputs(*rows.front());
  const auto where = name + ": ";
  const auto* bar = baseline(rows);
  if (!bar) return where + without_baseline(rows);
  const auto swept = swept_text(bar->cell());
  auto text = fmt::format("{}the undefended model{} reaches a test accuracy of {}. {}", where,
                          swept.empty() ? "" : fmt::format(" ({})", swept),
                          measured(*bar->test_accuracy), attacked(*bar));
  return bar->strongest() ? text + ' ' + best_defense(rows, *bar) : text;
}

/// The rows of each task. A weaker attacker makes no better defense, so those who do not know the
/// defense are left out.
std::vector<Rows> rows_by_task(const std::vector<Summary>& summaries) {
  std::vector<Rows> all;
  for (const auto& row : summaries) {
    if (blindfolded(row.cell())) continue;
    const auto task = task_of(row.cell());
    auto found = std::find_if(all.begin(), all.end(), [&](const Rows& rows) {
      return same_task(task_of(rows.front()->cell()), task);
    });
    if (found == all.end()) found = all.insert(found, Rows{});
    found->push_back(&row);
  }
  return all;
}

}  // namespace

std::vector<std::string> findings(const Results& results) {
  const auto summaries = summarise(results);
  const auto by_task = rows_by_task(summaries);
  std::vector<Task> tasks;
  for (const auto& rows : by_task) tasks.push_back(task_of(rows.front()->cell()));
  const auto pairs = matched_pairs(results);
  std::vector<std::string> paragraphs;
  for (size_t i = 0; i < by_task.size(); ++i)
    paragraphs.push_back(paragraph(by_task[i], task_text(tasks[i], tasks)) +
                         matched(tasks[i], pairs));
  if (paragraphs.empty()) paragraphs.emplace_back("No cell has finished: there is nothing to say.");
  return paragraphs;
}

}  // namespace imprint
