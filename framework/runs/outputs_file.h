#pragma once

#include <filesystem>
#include <optional>

#include "framework/privacy/signals.h"

namespace imprint {

/// What a file says about one model: its answers about candidates, or somebody's scores of them, or
/// both; and who was a member.
struct Outputs {
  std::filesystem::path file;
  Answers answers;  ///< neither is defined where there are only scores
  Tensor y;         ///< [n] true classes; defined where there are answers
  Tensor scores;    ///< [n] double, higher: member, may be infinite; or undefined
  Tensor member;    ///< bool [n], some of either kind

  bool answered() const { return answers.logits.defined() || answers.log_p.defined(); }
};

/// A model under attack and, for the attacker's threshold, one like it whose members are known.
struct OutputsPair {
  Outputs target;
  std::optional<Outputs> shadow;
};

/// Reads the outputs of somebody else's model.
///
/// A .npz file has the arrays `logits` or `probabilities` [n, classes] with `labels` [n], or
/// `scores` [n], or both; and `members` [n], 1 for members and 0 for others. The same names with
/// `shadow_` before them tell about the shadow. A .csv file has a header and the columns `logit_0`,
/// `logit_1`, ... or `p_0`, `p_1`, ...; `label`, `score`, `member`.
///
/// The shadow may also have a file of its own, of either kind, with the names of the first; an
/// empty path: it has none. Throws ConfigError naming the file and the place of what is wrong.
OutputsPair read_outputs(const std::filesystem::path& file,
                         const std::filesystem::path& shadow = {});

}  // namespace imprint
