#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "framework/config/keys.h"
#include "framework/reports/comparison.h"
#include "framework/reports/contenders.h"
#include "framework/reports/expect.h"
#include "framework/reports/strands.h"

namespace imprint {
namespace {

struct Finding {
  std::string measured, interval, verdict;
};

bool labels_differ(const std::vector<Sample>& all) {
  return std::any_of(all.begin(), all.end(), [&](const Sample& each) {
    return each.cell().label != all.front().cell().label;
  });
}

/// "CCEL, ccl.alpha=0.5".
std::string name_of(const CellResult& cell, bool with_label) {
  std::vector<std::string> words;
  if (with_label) words.push_back(cell.label);
  for (const auto& [path, value] : cell.swept) words.push_back(path + "=" + value);
  return joined(words);
}

/// "CCEL, ccl.alpha=0.5, best of 5".
std::string name_among(const Sample& chosen, const std::vector<Sample>& all) {
  std::vector<std::string> words = {name_of(chosen.cell(), labels_differ(all))};
  if (all.size() > 1) words.push_back(fmt::format("best of {}", all.size()));
  std::erase(words, "");
  return joined(words);
}

/// " (a; b)" of the parts that are not empty.
std::string in_brackets(std::vector<std::string> parts) {
  std::erase(parts, "");
  return parts.empty() ? "" : fmt::format(" ({})", joined(parts, "; "));
}

/// "0.231 against 0.262 (ccl.alpha=0.5 against relaxloss.alpha=2)".
std::string compared(const Comparison& comparison, const std::string& own,
                     const std::string& attack) {
  const auto& rival = comparison.name;
  const auto names =
      rival.empty() ? own : fmt::format("{}{}against {}", own, own.empty() ? "" : " ", rival);
  return fmt::format("{} against {}{}", comparison.own, comparison.rival,
                     in_brackets({names, attack}));
}

/// " (the deciding one of 4 rivals)".
std::string deciding_of(size_t n, const std::string& noun) {
  return n > 1 ? fmt::format(" (the deciding one of {} {})", n, noun) : "";
}

std::string margin_text(double margin) {
  return margin > 0 ? fmt::format("; {} on the wrong side will do", canonical(margin)) : "";
}

/// The attacks, where the claim leaves them open.
std::string attack_text(const Claim& claim, const std::vector<const Sample*>& used) {
  std::vector<std::string> names;
  for (const auto* each : used) {
    const bool known = std::find(names.begin(), names.end(), each->attack) != names.end();
    if (each->attack.empty() || each->attack == claim.attack || known) continue;
    names.push_back(each->attack);
  }
  return names.empty() ? "" : "strongest attack " + joined(names, " or ");
}

Finding find(const Claim& claim, const Against& form, const Contenders& contenders) {
  const double sign = form.above ? 1 : -1;
  const auto all = contenders.own();
  const auto& own = extreme(all, sign);
  const auto conclude = [&](const Comparison& comparison, const std::vector<const Sample*>& used) {
    return Finding{compared(comparison, name_among(own, all), attack_text(claim, used)),
                   interval_text(comparison) + margin_text(form.margin),
                   decide({comparison}, sign, form.margin).verdict};
  };
  if (const auto* number = std::get_if<double>(&form.limit)) {
    return conclude(compare(own, *number), {&own});
  }
  const auto opponents = contenders.opponents(own, std::get<Selector>(form.limit));
  const auto& hardest = extreme(opponents, sign);
  const auto name = opponents.size() > 1 ? name_of(hardest.cell(), labels_differ(opponents)) : "";
  return conclude(compare(own, hardest, name), {&own, &hardest});
}

Finding find(const Claim& claim, const Near& form, const Contenders& contenders) {
  const auto all = contenders.own();
  const auto& own =
      best(all, [&](const Sample& each) { return -std::abs(each.mean() - form.value); });
  const auto measured = spread(own.readings);
  const auto names = in_brackets({name_among(own, all), attack_text(claim, {&own})});
  return {fmt::format("{} against {} +- {}{}", shown(measured.mean), canonical(form.value),
                      canonical(form.tolerance), names),
          interval_text("mean", measured), decide_near(measured, form.value, form.tolerance)};
}

/// Each point of a strand against the one before.
std::vector<Comparison> steps_of(const Strand& strand, bool alone) {
  std::vector<Comparison> steps;
  for (size_t i = 1; i < strand.points.size(); ++i) {
    const auto& [before, previous] = strand.points[i - 1];
    const auto& [value, point] = strand.points[i];
    const auto of = alone ? "" : " of " + strand.rest;
    steps.push_back(compare(point, previous, fmt::format("{} to {}{}", before, value, of)));
  }
  return steps;
}

Finding find(const Claim& claim, const Monotone& form, const Contenders& contenders) {
  const auto all = strands(contenders.own(), form.over);
  if (all.empty()) {
    throw Missing(
        fmt::format("no such cell: {} has no swept key '{}'", claim.cell.text(), form.over));
  }
  std::vector<Comparison> steps;
  std::vector<std::string> texts;
  std::vector<const Sample*> used;
  for (const auto& strand : all) {
    texts.push_back(strand_text(strand, all.size() == 1));
    for (const auto& [value, point] : strand.points) used.push_back(&point);
    for (auto& step : steps_of(strand, all.size() == 1)) steps.push_back(std::move(step));
  }
  const auto measured = joined(texts, "; ") + in_brackets({attack_text(claim, used)});
  if (steps.empty()) return {measured, "a single value of " + form.over, "undecided"};
  const auto [verdict, by] = decide(steps, form.increasing ? 1 : -1);
  const auto of = deciding_of(steps.size(), "steps");
  return {measured, fmt::format("{}: {}{}", by->name, interval_text(*by), of), verdict};
}

Finding find(const Claim& claim, const LowestAmong& form, const Contenders& contenders) {
  const auto all = contenders.own();
  const auto& own = extreme(all, -1);
  const auto rivals = contenders.rivals(own, form);
  std::vector<Comparison> comparisons;
  std::vector<const Sample*> used = {&own};
  for (const auto& rival : rivals) {
    comparisons.push_back(compare(own, rival, name_of(rival.cell(), true)));
    used.push_back(&rival);
  }
  const auto [verdict, by] = decide(comparisons, -1);
  return {compared(*by, name_among(own, all), attack_text(claim, used)),
          interval_text(*by) + deciding_of(rivals.size(), "rivals"), verdict};
}

}  // namespace

std::vector<Verdict> judge(const std::vector<Claim>& claims, const Results& results) {
  const auto rows = result_rows(results);
  std::vector<Verdict> verdicts;
  for (const auto& claim : claims) {
    Verdict verdict{claim.claim, claim.published, "", "", "undecided", claim.scaled};
    try {
      const Contenders contenders(claim, rows);
      const auto found =
          std::visit([&](const auto& form) { return find(claim, form, contenders); }, claim.form);
      verdict.measured = found.measured;
      verdict.interval = found.interval;
      verdict.verdict = found.verdict;
    } catch (const Missing& missing) {
      verdict.measured = missing.what();
    }
    verdicts.push_back(verdict);
  }
  return verdicts;
}

}  // namespace imprint
