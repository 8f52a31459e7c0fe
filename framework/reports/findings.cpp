#include <fmt/format.h>

#include <algorithm>

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
std::string matched(const CellResult& cell, std::vector<MatchedPair> pairs) {
  std::erase_if(pairs, [&](const MatchedPair& pair) {
    return pair.data != cell.data || pair.model != cell.model;
  });
  const auto sentence = leading_sentence(pairs);
  return sentence.empty() ? "" : ' ' + sentence;
}

std::string paragraph(const Rows& rows) {
  const auto& cell = rows.front()->cell();
  if (cell.foreign()) return outputs(*rows.front());
  const auto where = fmt::format("{} with {}: ", cell.data, cell.model);
  const auto* bar = baseline(rows);
  if (!bar) return where + without_baseline(rows);
  const auto swept = swept_text(bar->cell());
  auto text = fmt::format("{}the undefended model{} reaches a test accuracy of {}. {}", where,
                          swept.empty() ? "" : fmt::format(" ({})", swept),
                          measured(*bar->test_accuracy), attacked(*bar));
  return bar->strongest() ? text + ' ' + best_defense(rows, *bar) : text;
}

}  // namespace

std::vector<std::string> findings(const Results& results) {
  const auto summaries = summarise(results);
  std::vector<Rows> scenes;
  for (const auto& row : summaries) {
    // A weaker attacker makes no better defense.
    if (blindfolded(row.cell())) continue;
    auto found = std::find_if(scenes.begin(), scenes.end(), [&](const Rows& rows) {
      return rows.front()->cell().data == row.cell().data &&
             rows.front()->cell().model == row.cell().model;
    });
    if (found == scenes.end()) found = scenes.insert(found, Rows{});
    found->push_back(&row);
  }
  std::vector<std::string> paragraphs;
  const auto pairs = matched_pairs(results);
  for (const auto& rows : scenes)
    paragraphs.push_back(paragraph(rows) + matched(rows.front()->cell(), pairs));
  if (paragraphs.empty()) paragraphs.emplace_back("No cell has finished: there is nothing to say.");
  return paragraphs;
}

}  // namespace imprint
