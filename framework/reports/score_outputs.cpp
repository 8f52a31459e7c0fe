#include "framework/reports/score_outputs.h"

#include <map>

#include "framework/privacy/attack.h"
#include "framework/reports/exposure.h"

namespace imprint {
namespace {

/// Attacks that were not run, under what they lack.
using LeftOut = std::map<std::string, std::vector<std::string>>;

/// What an attack needs and a file of outputs does not give; empty if it gives everything.
std::string lacking(const Needs& needs, const OutputsPair& outputs) {
  const auto& [target, shadow] = outputs;
  if (!target.answered()) return "logits or probabilities";
  const bool logits =
      target.answers.logits.defined() && (!shadow || shadow->answers.logits.defined());
  std::vector<std::string> all;
  const auto want = [&](bool needed, const char* what) {
    if (needed) all.emplace_back(what);
  };
  want(needs.signal == Needs::Signal::logits && !logits, "logits instead of probabilities");
  want(needs.access == Needs::Access::weights, "the weights of the model");
  want(needs.access == Needs::Access::queries, "answers about records of the attacker's making");
  want(!needs.transforms.empty(), "answers about changed versions of the records");
  want(needs.records, "the records themselves");
  want(needs.population, "answers about records that nobody trained on");
  want(needs.shadows == Needs::Shadows::pool, "shadow models that saw these records or not");
  want(needs.shadows == Needs::Shadows::one && !shadow, "a shadow model, --shadow");
  return joined(all, " and ");
}

/// As a run stores them.
Tensors tensors_of(const Findings& findings) {
  Tensors tensors{{"scores", findings.scores}, {"scored", findings.scored}};
  if (findings.decisions.defined()) tensors["decisions"] = findings.decisions;
  return tensors;
}

Findings findings_of(const AttackChoice& choice, const Observation& target,
                     const Observation* shadow) {
  auto& attack = *choice.attack.component;
  const auto stream = Stream(0).at("attack/" + choice.attack.about->name);
  const std::vector<const Observation*> shadows(shadow == nullptr ? 0 : 1, shadow);
  const Scene scene(target, shadows, attack.needs(), stream);
  return shadow == nullptr ? run_without_shadow(attack, scene)
                           : run_attack(attack, scene, choice.per_class());
}

/// The file's own scores; a threshold is fitted where the shadow has scores, too.
Attacked own_scores(const OutputsPair& outputs) {
  const auto& [target, shadow] = outputs;
  Tensors found{{"scores", target.scores}, {"scored", torch::ones_like(target.member)}};
  const bool fitted = shadow && shadow->scores.defined();
  if (fitted) {
    const auto scores = shadow->scores.contiguous();
    const auto member = shadow->member.to(torch::kUInt8).contiguous();
    const auto size = static_cast<size_t>(scores.numel());
    found["decisions"] = target.scores >= best_threshold({scores.const_data_ptr<double>(), size},
                                                         {member.const_data_ptr<uint8_t>(), size});
  }
  return {"scores",
          fitted ? "whatever gave these scores; one shadow model, for the threshold"
                 : "whatever gave these scores; no shadow model",
          found,
          {}};
}

std::string threat_words(Needs needs, bool shadow) {
  needs.decides = needs.decides || !shadow;
  return needs.words();
}

/// Runs the attacks of the registry one after the other.
class OutputsAttacker {
 public:
  explicit OutputsAttacker(const OutputsPair& outputs) : outputs_(outputs) {
    const auto& [target, shadow] = outputs;
    if (!target.answered()) return;
    target_.emplace(target.answers, target.y, target.member);
    if (shadow) shadow_.emplace(shadow->answers, shadow->y, shadow->member);
  }

  void attack(const std::string& name) {
    AttackChoice choice{name, {}};
    Problems problems;
    choice.attack = build(AttackRegistry::instance(), "attack", Value::scalar(name), problems,
                          [&](Keys& keys) { read_attack_keys(keys, choice); });
    if (!problems.empty()) return leave_out(name, "keys without a default");
    const auto needs = choice.attack.component->needs();
    const auto reason = lacking(needs, outputs_);
    if (!reason.empty()) return leave_out(name, reason);
    try {
      const auto found = findings_of(choice, *target_, shadow_ ? &*shadow_ : nullptr);
      attacks.push_back(
          {name, threat_words(needs, shadow_.has_value()), tensors_of(found), found.log.metrics});
    } catch (const c10::Error& error) {
      failures.push_back(fmt::format("{} failed: {}", name, error.what_without_backtrace()));
    }
  }

  std::vector<Attacked> attacks;
  LeftOut left_out;
  std::vector<std::string> failures;

 private:
  void leave_out(const std::string& name, const std::string& reason) {
    left_out[reason].push_back(name);
  }

  const OutputsPair& outputs_;
  std::optional<Answered> target_, shadow_;
};

Truth truth_of(const Outputs& target) {
  Truth truth{candidates_of(target), {}, {}, true};
  if (!target.answered()) return truth;
  truth.right = columns_of(target.answers, target.y).label.eq(target.y);
  truth.test_right = truth.right.masked_select(target.member.logical_not());
  return truth;
}

std::vector<std::string> undecided(const std::vector<Attacked>& attacks) {
  std::vector<std::string> names;
  for (const auto& each : attacks)
    if (!each.found.contains("decisions")) names.push_back(each.attack);
  return names;
}

/// Probabilities are often rounded; logits keep what is lost there.
int64_t rounded_to_one(const Outputs& target) {
  const auto& log_p = target.answers.log_p;
  return log_p.defined() ? log_p.eq(0).any(1).sum().item<int64_t>() : 0;
}

std::string left_out_note(const LeftOut& left_out) {
  std::vector<std::string> words;
  for (const auto& [reason, names] : left_out)
    words.push_back(fmt::format("{} ({})", joined(names), reason));
  return fmt::format(
      "Not run, for want of what stands in parentheses: {}. What they would find is not known.",
      joined(words, "; "));
}

std::string threshold_note(const std::vector<std::string>& names, bool shadow) {
  if (names.empty())
    return "Thresholds are fitted on the shadow: the advantages are those of an attacker who has "
           "one like it.";
  return fmt::format(
      "{}, so no threshold is fitted, and there is no advantage, precision, recall and P1 of: {}. "
      "AUC and TPR at a low FPR need no threshold; advantage_best takes the best one with the "
      "answers in hand and is optimistic.",
      shadow ? "The shadow has no scores" : "There is no shadow model (--shadow)", joined(names));
}

std::vector<std::string> notes_on(const OutputsAttacker& done, const OutputsPair& outputs,
                                  const AuditChoice& audit) {
  auto notes = done.failures;
  if (!done.left_out.empty()) notes.push_back(left_out_note(done.left_out));
  const auto names = undecided(done.attacks);
  if (outputs.shadow || !names.empty())
    notes.push_back(threshold_note(names, outputs.shadow.has_value()));
  if (const auto ties = rounded_to_one(outputs.target); ties > 0)
    notes.push_back(
        fmt::format("{} of {} records have a probability that is exactly 1, as rounding makes it, "
                    "and attacks cannot tell them apart; logits would.",
                    ties, outputs.target.member.numel()));
  notes.push_back(
      "The numbers hold for these records and this one model, and so do their intervals. Nothing "
      "is known about other trainings: there are no seeds.");
  notes.push_back(
      "That members were chosen independently of the model, and from the same source as the "
      "non-members, is the word of whoever made the file: any other difference between the two "
      "groups counts as leakage here.");
  notes.push_back(fmt::format(
      "epsilon_low (at delta {}) takes records as independent draws. Those of one model "
      "share its noise, so it is a hint and no proof.",
      audit.delta));
  return notes;
}

}  // namespace

Candidates candidates_of(const Outputs& outputs) {
  return {outputs.member, torch::ones_like(outputs.member), torch::zeros_like(outputs.member),
          torch::arange(outputs.member.numel())};
}

ScoredOutputs score_outputs(const OutputsPair& outputs, const AuditChoice& audit) {
  OutputsAttacker attacker(outputs);
  for (const auto& name : AttackRegistry::instance().names()) attacker.attack(name);
  if (outputs.target.scores.defined()) attacker.attacks.push_back(own_scores(outputs));
  ScoredOutputs scored{{}, attacker.attacks, !attacker.failures.empty()};
  auto cell = scored_cell(truth_of(outputs.target), scored.attacks, audit, 0);
  cell.data = cell.label = outputs.target.file.filename().string();
  scored.results.cells.push_back(cell);
  scored.results.figures = {{.x = "attack", .y = "auc", .group = "label", .panel = ""}};
  scored.results.audit_fpr = audit.fpr;
  scored.results.exposures = exposures(scored.results);
  scored.results.notes = notes_on(attacker, outputs, audit);
  return scored;
}

}  // namespace imprint
