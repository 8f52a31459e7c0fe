#pragma once

#include <cstdint>
#include <span>

namespace imprint {

// Lower bounds on the epsilon of the mechanism that trained the target, from what an attack
// achieved. In all that follows `member[i]` is 1 for members and `delta` is in [0, 1]. Scores may
// be infinite, never NaN. A broken contract throws std::invalid_argument.

/// A 95 % lower confidence bound on epsilon, at least 0, from the rates of a decision. An
/// (epsilon, delta)-private mechanism has TPR <= e^epsilon FPR + delta and
/// TNR <= e^epsilon FNR + delta for every decision, hence the bound is
///
///   log((TPR_low - delta) / FPR_high)  or  log((TNR_low - delta) / FNR_high),
///
/// each rate with its one-sided 97.5 % Clopper-Pearson limit, so that both hold together with at
/// least 95 %. Both groups must be present and are halved at random; on one half the threshold and
/// one of the two ends are chosen, those with the largest bound there; the other half, which keeps
/// the odd record, gives the value. Thresholds are tried at false positive (at the low end: false
/// negative) counts that grow by a quarter, some sixty of a million. A group of one record cannot
/// be halved, and the bound is 0.
///
/// The limits take records as independent draws, which they are when each comes from a model of its
/// own. Records of one model share its noise; what holds for them is one_run_audit(). O(n log n);
/// the same seed gives the same bits.
double epsilon_low(std::span<const double> scores, std::span<const uint8_t> member, double delta,
                   uint64_t seed);

/// The one-run audit (Steinke, Nasr and Jagielski 2023, "Privacy auditing with one (1) training
/// run", appendix D). Of m canaries each is put in or left out by a fair coin of its own; the
/// auditor guesses r of these coins and v guesses are correct, 0 <= v <= r <= m. The chance of that
/// or more under any (epsilon, delta)-private mechanism is at most
///
///   P[W >= v] + 2 m delta max_{1 <= i <= m} P[v > W >= v - i] / i,
///   W ~ Binomial(r, e^epsilon / (1 + e^epsilon)),
///
/// or 1 if that is less; epsilon is at least 0. Without delta it is the plain binomial tail.
double one_run_p_value(int64_t canaries, int64_t guesses, int64_t correct, double epsilon,
                       double delta);

/// The largest epsilon that one_run_p_value() rejects: at most 1 - confidence; 0 if there is none.
double one_run_epsilon(int64_t canaries, int64_t guesses, int64_t correct, double delta,
                       double confidence = 0.95);

/// What a one-run audit found, and with how many guesses.
struct OneRun {
  int64_t canaries = 0, guesses = 0, correct = 0;
  double epsilon = 0;  ///< 95 % lower bound, the choice of the number of guesses included
};

/// Guesses "in" for the k highest scores and "out" for the k lowest. 2 k is all canaries, a half,
/// a quarter and so on to a 32nd; the number with the largest bound counts, and Bonferroni's
/// correction over the numbers tried pays for that choice. Where all bounds are 0, it is the
/// largest number.
///
/// Equal scores are taken in a random order that is drawn from the scores alone, since the order in
/// which candidates are listed may tell who is a member. Group sizes that fair coins do not produce
/// (five deviations from a half) are refused: on them, guessing the larger group would be evidence.
/// Masks with exactly half of the canaries in are fair enough: without leakage the number of
/// correct guesses then has m / (m - 1) of the binomial's variance. O(n log n).
OneRun one_run_audit(std::span<const double> scores, std::span<const uint8_t> member, double delta);

}  // namespace imprint
