#include <cmath>

#include "framework/training/defense.h"
#include "framework/training/evaluation.h"

namespace imprint::mixup_mmd {
namespace {

/// [n, m] Gaussian kernel of width 1 between the rows of u and of v.
Tensor kernel(const Tensor& u, const Tensor& v) {
  const auto squares = u.square().sum(1, true) + v.square().sum(1).unsqueeze(0);
  return (-(squares - 2 * u.mm(v.t())).clamp_min(0) / 2).exp();
}

/// Squared maximum mean discrepancy of two samples, the biased estimate.
Tensor mmd2(const Tensor& u, const Tensor& v) {
  return kernel(u, u).mean() + kernel(v, v).mean() - 2 * kernel(u, v).mean();
}

/// Mixup and MMD (Li, Li and Ribeiro 2021). Each batch is mixed with itself in another order,
/// x = l x + (1 - l) x' and likewise the labels, with one l ~ Beta(alpha, alpha) per batch (Zhang
/// et al. 2018).
///
/// After each epoch but the last, if the accuracies on members and on reference records differ by
/// `threshold` points, a pass over the members in the order of their labels minimises weight MMD^2
/// between the softmax of a batch and that of reference records of the same classes, drawn with
/// replacement and held fixed. It takes steps of the training's own optimizer, with the model as in
/// evaluation, so that batch statistics are neither used nor changed. Members whose class has no
/// reference record are left out of it.
///
/// `weight: 0` is mixup alone, `alpha: 0` the MMD term alone, both 0 plain training.
///
/// Keys: weight (3), threshold (3), alpha (1), batch (128).
class MixupMmd final : public Defense {
 public:
  explicit MixupMmd(Keys keys)
      : weight_(keys.number("weight", 3).at_least(0).doc("of MMD^2; 0 is mixup alone")),
        threshold_(keys.number("threshold", 3)
                       .within(0, 100)
                       .doc("percentage points of accuracy between members and reference records "
                            "below which an epoch has no MMD pass")),
        alpha_(keys.number("alpha", 1)
                   .at_least(0)
                   .doc("of Beta(alpha, alpha), the shares of the mixed; 0: nothing is mixed")),
        batch_(keys.integer("batch", 128)
                   .at_least(1)
                   .doc("members, and as many reference records, per step of the MMD pass")) {}

  Demands demands() const override { return {.reference = true, .mixes = alpha_ > 0}; }

  Batch batch(Batch batch, const Step& step) override {
    if (alpha_ == 0) return batch;
    auto generator = step.stream.at("mixup", static_cast<uint64_t>(step.step)).generator();
    const auto shape = torch::full({2}, alpha_, torch::kDouble);
    const auto share = torch::_sample_dirichlet(shape, generator)[0].item<double>();
    const auto partner = torch::randperm(batch.x.size(0), generator, torch::kLong).to(step.device);
    const auto mixed = [&](const Tensor& each) {
      return share * each + (1 - share) * each.index_select(0, partner);
    };
    batch.targets = mixed(batch.soft_targets(step.split.train.classes));
    batch.x = mixed(batch.x);
    return batch;
  }

  void epoch(const Step& step) override {
    if (weight_ == 0 || step.epoch + 1 == step.epochs || gap(step) < threshold_) return;
    const auto& [train, test, reference, population, tune] = step.split;
    const auto members = train.y.argsort(/*stable=*/true, /*dim=*/0, /*descending=*/false);
    const auto others = same_classes(train.y.index_select(0, members), reference, step);
    const auto matched = others.ge(0).nonzero().squeeze(1);
    const bool was_training = step.model.is_training();
    step.model.eval();
    for (const auto& rows : matched.split(batch_))
      if (rows.size(0) > 0)
        approach(train.x.rows(members.index_select(0, rows)),
                 reference.x.rows(others.index_select(0, rows)), step);
    step.model.train(was_training);
  }

 private:
  /// Percentage points of accuracy between members and reference records.
  static double gap(const Step& step) {
    const auto percent = [&](const Dataset& piece) {
      const auto logits = queried_logits(step.model, {}, piece.x, step.type, step.device);
      return 100 * accuracy(logits, piece.y);
    };
    return std::abs(percent(step.split.train) - percent(step.split.reference));
  }

  /// [n] for each label a random row of `reference` with that label; -1 where there is none.
  static Tensor same_classes(const Tensor& y, const Dataset& reference, const Step& step) {
    const auto sorted = reference.y.argsort(/*stable=*/true, /*dim=*/0, /*descending=*/false);
    const auto counts = reference.y.bincount({}, reference.classes);
    const auto count = counts.index_select(0, y);
    const auto first = (counts.cumsum(0) - counts).index_select(0, y);
    auto generator = step.stream.at("mmd", static_cast<uint64_t>(step.epoch)).generator();
    const auto drawn = torch::rand(y.sizes(), generator, torch::kDouble);
    const auto place = first + (drawn * count).floor().to(torch::kLong);
    const auto rows = sorted.index_select(0, place.clamp_max(reference.size() - 1));
    return rows.masked_fill(count.eq(0), -1);
  }

  /// One step that moves the answers about members towards those about the others.
  void approach(const Tensor& members, const Tensor& others, const Step& step) const {
    const auto answers = [&](const Tensor& x) {
      return class_logits(step.model.forward(as_input(x, step.type, step.device))).softmax(1);
    };
    Tensor fixed;
    {
      const torch::NoGradGuard no_grad;
      fixed = answers(others);
    }
    step.optimizer.zero_grad();
    (weight_ * mmd2(answers(members), fixed)).backward();
    step.optimizer.step();
  }

  double weight_, threshold_, alpha_;
  int64_t batch_;
};

IMPRINT_DEFENSE(MixupMmd, "mixup_mmd",
                "mixed records, and answers about members drawn towards those about others",
                "Li et al., CODASPY 2021");

}  // namespace
}  // namespace imprint::mixup_mmd
