#include "framework/privacy/agreement.h"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "framework/privacy/scoring.h"

namespace imprint {
namespace {

void check_flag_count(const std::string& what, size_t given, size_t records) {
  if (given == records) return;
  throw std::invalid_argument("there are " + std::to_string(given) + " " + what + " for " +
                              std::to_string(records) + " records");
}

bool share_a_member(const RunFlags& one, const RunFlags& other) {
  for (size_t i = 0; i < one.member.size(); ++i) {
    if (one.member[i] != 0 && other.member[i] != 0) return true;
  }
  return false;
}

/// Among the records that are members in both runs.
Overlap shared_overlap(const RunFlags& one, const RunFlags& other) {
  Overlap result;
  for (size_t i = 0; i < one.flags.size(); ++i) {
    const bool shared = one.member[i] != 0 && other.member[i] != 0;
    const bool a = one.flags[i] != 0, b = other.flags[i] != 0;
    result.both += shared && a && b ? 1 : 0;
    result.either += shared && (a || b) ? 1 : 0;
  }
  return result;
}

double mean_jaccard_of_pairs(std::span<const RunFlags> runs) {
  double sum = 0, pairs = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (!share_a_member(runs[i], runs[j])) continue;
      sum += shared_overlap(runs[i], runs[j]).jaccard();
      ++pairs;
    }
  }
  return pairs == 0 ? 0 : sum / pairs;
}

}  // namespace

std::vector<uint8_t> flagged(std::span<const double> scores, std::span<const uint8_t> member,
                             double fpr) {
  if (!(fpr >= 0 && fpr <= 1)) {
    throw std::invalid_argument(
        "members are flagged at a false positive rate between 0 and 1, not " + std::to_string(fpr));
  }
  const auto curve = roc(scores, member);
  const auto above = std::upper_bound(curve.fpr.begin(), curve.fpr.end(), fpr);
  const auto point = static_cast<size_t>(above - curve.fpr.begin()) - 1;
  std::vector<uint8_t> flags(scores.size(), 0);
  if (point == 0) return flags;  // nobody, not even at an infinite score
  for (size_t i = 0; i < scores.size(); ++i) {
    flags[i] = member[i] != 0 && scores[i] >= curve.threshold[point] ? 1 : 0;
  }
  return flags;
}

double Overlap::jaccard() const { return either == 0 ? 0 : ratio(both, either); }

Overlap overlap(std::span<const uint8_t> one, std::span<const uint8_t> other) {
  check_flag_count("flags", other.size(), one.size());
  Overlap result;
  for (size_t i = 0; i < one.size(); ++i) {
    result.both += one[i] != 0 && other[i] != 0 ? 1 : 0;
    result.either += one[i] != 0 || other[i] != 0 ? 1 : 0;
  }
  return result;
}

double Agreement::coverage() const { return members == 0 ? 0 : ratio(by_any, members); }

double Agreement::stability() const {
  return by_any == 0 ? 0 : ratio(static_cast<int64_t>(by_all.size()), by_any);
}

Agreement agreement(std::span<const std::vector<uint8_t>> flags, std::span<const uint8_t> member) {
  if (flags.empty()) throw std::invalid_argument("agreement needs at least one set of flags");
  for (const auto& set : flags) check_flag_count("flags", set.size(), member.size());
  Agreement result;
  for (size_t i = 0; i < member.size(); ++i) {
    if (member[i] == 0) continue;
    const auto has_flag = [i](const std::vector<uint8_t>& set) { return set[i] != 0; };
    ++result.members;
    if (std::any_of(flags.begin(), flags.end(), has_flag)) ++result.by_any;
    if (std::all_of(flags.begin(), flags.end(), has_flag)) {
      result.by_all.push_back(static_cast<int64_t>(i));
    }
  }
  return result;
}

RunAgreement agreement_across_runs(std::span<const RunFlags> runs) {
  RunAgreement result;
  const size_t records = runs.empty() ? 0 : runs.front().flags.size();
  result.member_in.resize(records);
  result.flagged_in.resize(records);
  for (const auto& [flags, member] : runs) {
    check_flag_count("flags", flags.size(), records);
    check_flag_count("membership bits", member.size(), records);
    for (size_t i = 0; i < records; ++i) {
      if (member[i] == 0) continue;
      ++result.member_in[i];
      if (flags[i] != 0) ++result.flagged_in[i];
    }
  }
  result.stability = mean_jaccard_of_pairs(runs);
  return result;
}

}  // namespace imprint
