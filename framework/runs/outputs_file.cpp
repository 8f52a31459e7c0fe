#include "framework/runs/outputs_file.h"

#include <fmt/format.h>

#include "framework/config/problems.h"
#include "framework/runs/written_outputs.h"

namespace imprint {
namespace {

constexpr double sum_tolerance = 0.01;  // probabilities are often written with few digits
constexpr auto shadow_prefix = "shadow_";

/// Checks one model's arrays, all of which have `prefix` before their names.
class OutputsReader {
 public:
  OutputsReader(const WrittenOutputs& written, std::string prefix)
      : written_(written), prefix_(std::move(prefix)) {}

  Outputs read() const {
    Outputs outputs;
    outputs.file = written_.file;
    const auto first = leading();
    const auto n = array(first).size(0);
    if (has("logits")) outputs.answers.logits = logits();
    if (has("probabilities")) outputs.answers.log_p = probabilities().log();
    if (has("scores")) outputs.scores = scores(n, first);
    if (outputs.answered()) outputs.y = labels(n, first, outputs.answers.classes());
    outputs.member = members(n, first);
    return outputs;
  }

 private:
  bool has(const std::string& name) const { return written_.arrays.contains(prefix_ + name); }
  std::string called(const std::string& name) const { return written_.called(prefix_ + name); }
  const Tensor& array(const std::string& name) const { return written_.arrays.at(prefix_ + name); }

  template <typename... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> why, Args&&... args) const {
    written_.refuse(fmt::format(why, std::forward<Args>(args)...));
  }

  // Refuses the first entry where `bad` holds.
  void refuse_where(const Tensor& bad, const std::string& name, const Tensor& values,
                    const std::string& why) const {
    const auto places = bad.nonzero();
    if (places.size(0) == 0) return;
    std::vector<int64_t> index;
    auto value = values;
    for (int64_t i = 0; i < places.size(1); ++i) {
      index.push_back(places[0][i].item<int64_t>());
      value = value[index.back()];
    }
    throw ConfigError(
        fmt::format("{}{} {}", written_.place(prefix_ + name, index), value.item<double>(), why));
  }

  // The array that says how many candidates there are.
  std::string leading() const {
    if (has("logits") && has("probabilities"))
      refuse("has both {} and {}; give one of them", called("logits"), called("probabilities"));
    for (const auto* name : {"logits", "probabilities", "scores"}) {
      if (!has(name)) continue;
      if (array(name).dim() == 0)
        refuse("{} is a single value, expected one for each record", called(name));
      if (array(name).numel() == 0) refuse("{} is empty", called(name));
      return name;
    }
    refuse("has no outputs of a model: neither {} nor {} nor {}", called("logits"),
           called("probabilities"), called("scores"));
  }

  const Tensor& matrix(const std::string& name) const {
    const auto& values = array(name);
    if (values.dim() != 2 || values.size(1) < 2)
      refuse(
          "{} has the shape {}; expected [n, classes] with at least two classes (of a network with "
          "one output: 0 and that output)",
          called(name), c10::str(values.sizes()));
    return values;
  }

  Tensor vector(const std::string& name, int64_t n, const std::string& first) const {
    const auto& values = array(name);
    if (values.dim() != 1)
      refuse("{} has the shape {}; expected [n]", called(name), c10::str(values.sizes()));
    if (values.size(0) != n)
      refuse("{} is about {} records, {} about {}", called(name), values.size(0), called(first), n);
    return values.to(torch::kDouble);
  }

  Tensor logits() const {
    const auto& values = matrix("logits");
    refuse_where(values.isfinite().logical_not(), "logits", values,
                 "is no finite logit; has the training diverged?");
    const bool plain =
        values.scalar_type() == torch::kFloat32 || values.scalar_type() == torch::kFloat64;
    return plain ? values : values.to(torch::kDouble);
  }

  Tensor probabilities() const {
    const auto values = matrix("probabilities").to(torch::kDouble);
    refuse_where((values.ge(0) & values.le(1)).logical_not(), "probabilities", values,
                 fmt::format("is no probability; logits go into {}", called("logits")));
    const auto sums = values.sum(1);
    refuse_where((sums - 1).abs().gt(sum_tolerance), "probabilities", sums,
                 "is the sum of this record's probabilities; expected 1");
    return values;
  }

  Tensor scores(int64_t n, const std::string& first) const {
    const auto values = vector("scores", n, first);
    refuse_where(values.isnan(), "scores", values,
                 "is no score; every record needs one, if need be an infinite one");
    return values;
  }

  Tensor labels(int64_t n, const std::string& first, int64_t classes) const {
    if (!has("labels")) refuse("has no {}, the true classes of the records", called("labels"));
    const auto values = vector("labels", n, first);
    refuse_where(
        (values.ge(0) & values.lt(classes) & values.eq(values.floor())).logical_not(), "labels",
        values, fmt::format("is no class; with {} classes they are 0 to {}", classes, classes - 1));
    return values.to(torch::kLong);
  }

  Tensor members(int64_t n, const std::string& first) const {
    if (!has("members"))
      refuse("has no {}: 1 for records that the model was trained on, 0 for others",
             called("members"));
    const auto values = vector("members", n, first);
    refuse_where((values.eq(0) | values.eq(1)).logical_not(), "members", values,
                 "is neither 1 (a member) nor 0");
    const auto count = static_cast<int64_t>(values.sum().item<double>());
    if (count == 0 || count == n)
      refuse("{} is {} for all {} records; both members and non-members are needed",
             called("members"), count == 0 ? 0 : 1, n);
    return values.to(torch::kBool);
  }

  const WrittenOutputs& written_;
  std::string prefix_;
};

// The name of an array about the shadow; empty if there is none.
std::string shadow_array(const WrittenOutputs& written) {
  for (const auto& [array, values] : written.arrays)
    if (array.starts_with(shadow_prefix)) return array;
  return "";
}

// Whether a threshold that was fitted on the shadow means anything for the target.
void check_pair(const Outputs& target, const Outputs& shadow) {
  const auto refuse = [&](const std::string& why) {
    throw ConfigError(fmt::format("{}: {}", shadow.file.string(), why));
  };
  if (target.answered() && !shadow.answered())
    refuse(
        "the shadow has scores only; logits or probabilities are needed, as of the model itself");
  if (!target.answered() && !shadow.scores.defined())
    refuse("the shadow has no scores, and of the model itself there are only scores");
  if (target.answered() && target.answers.classes() != shadow.answers.classes())
    refuse(fmt::format("the shadow has {} classes, the model itself {}", shadow.answers.classes(),
                       target.answers.classes()));
}

}  // namespace

OutputsPair read_outputs(const std::filesystem::path& file, const std::filesystem::path& shadow) {
  const auto written = read_written_outputs(file, {"", shadow_prefix});
  OutputsPair pair{OutputsReader(written, "").read(), std::nullopt};
  const auto inside = shadow_array(written);
  if (!inside.empty() && !shadow.empty())
    written.refuse(
        fmt::format("has {}, and --shadow names another shadow; give one of them", inside));
  if (!inside.empty()) pair.shadow = OutputsReader(written, shadow_prefix).read();
  if (!shadow.empty()) {
    const auto apart = read_written_outputs(shadow, {""});
    pair.shadow = OutputsReader(apart, "").read();
  }
  if (pair.shadow) check_pair(pair.target, *pair.shadow);
  return pair;
}

}  // namespace imprint
