#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "framework/data/records.h"

namespace imprint {

/// A file of a model's outputs as it was written: arrays by their names in .npz files, and what
/// messages call them.
struct WrittenOutputs {
  std::filesystem::path file;
  std::map<std::string, Tensor> arrays;
  /// Of an array: "array 'labels'" or "column 'label'", the first one if it has several.
  std::function<std::string(const std::string& array)> called;
  /// Of an entry, or a row: "a.npz: labels[3]: " or "a.csv:5:1: ".
  std::function<std::string(const std::string& array, const std::vector<int64_t>& index)> place;

  /// Throws ConfigError "<file>: <why>".
  [[noreturn]] void refuse(const std::string& why) const;
};

/// The arrays of outputs: logits, probabilities, scores, labels, members; in a .csv file the
/// columns logit_0, logit_1, ..., p_0, p_1, ..., score, label, member. `prefixes` are what an
/// array's name in a .npz file may begin with. Throws ConfigError for any other name and any other
/// kind of file.
WrittenOutputs read_written_outputs(const std::filesystem::path& file,
                                    const std::vector<std::string>& prefixes);

}  // namespace imprint
