#include <algorithm>

#include "framework/training/evaluation.h"
#include "framework/training/inner_attacker.h"

namespace imprint::adversarial_regularization {
namespace {

/// Adversarial regularisation (Nasr et al. 2018, Eq. 6-8): an inner attacker learns to tell members
/// from reference records by the model's answers, given as in evaluation; the model minimises
/// CE + weight (h - 1/2), with h the attacker's probability that a record is a member.
///
/// In the warm-up the model trains plainly, and after each of its epochs the attacker makes
/// `warmup_passes` over the members. Then, with `attacker_steps: 0`, it makes one pass after each
/// epoch: with `warmup: 3` the schedule of RelaxLoss's code for images, where the pass comes before
/// the epoch. With `attacker_steps` above 0 it makes that many steps before every `target_steps` of
/// the model: 50 and 2 in RelaxLoss's code for tables, 52 and 2 in Nasr's. The attacker's layers
/// are MLHospital's; Nasr's have attacker_both [512, 256, 128, 64], RelaxLoss's are [512, 64], [64]
/// and [64] on sorted logits. The learning rates, the attacker's too, change from epoch to epoch.
///
/// Keys: weight (1), warmup (1), warmup_passes (5), attacker_steps (0), target_steps (1),
/// attacker_batch (128), and those of InnerAttacker.
class AdversarialRegularization final : public Defense {
 public:
  explicit AdversarialRegularization(Keys keys)
      : weight_(keys.number("weight", 1)
                    .at_least(0)
                    .doc("strength of the attacker's term; 0 is plain training")),
        warmup_(keys.integer("warmup", 1)
                    .at_least(0)
                    .doc("epochs of plain training, while the attacker learns")),
        warmup_passes_(keys.integer("warmup_passes", 5)
                           .at_least(1)
                           .doc("the attacker's passes over the members after such an epoch")),
        steps_(keys.integer("attacker_steps", 0)
                   .at_least(0)
                   .doc("the attacker's steps in each round of the game; 0: a pass over the "
                        "members after each epoch")),
        target_steps_(keys.integer("target_steps", 1)
                          .at_least(1)
                          .doc("attacker_steps above 0: the model's steps in each round")),
        batch_(keys.integer("attacker_batch", 128)
                   .at_least(1)
                   .doc("members, and as many reference records, per attacker step")),
        attacker_(keys) {}

  Demands demands() const override { return {.reference = true}; }

  void start(const Step& step) override { attacker_.start(step); }

  Batch batch(Batch batch, const Step& step) override {
    if (steps_ == 0 || plain(step) || step.step % target_steps_ != 0) return batch;
    auto generator = step.stream.at("attacker/round", static_cast<uint64_t>(step.step)).generator();
    const auto some = [&](const Dataset& piece) {
      const auto rows = torch::randint(0, piece.size(), {batch_}, generator, torch::kLong);
      return answers(piece.at(rows), step);
    };
    for (int64_t i = 0; i < steps_; ++i) {
      const auto members = some(step.split.train), others = some(step.split.reference);
      attacker_.learn(members, others, step);
    }
    return batch;
  }

  Tensor loss(Tensor losses, const Tensor& logits, const Batch& batch, const Step& step) override {
    if (plain(step)) return losses;
    return losses + weight_ * (attacker_(class_logits(logits), batch.y) - 0.5);
  }

  void epoch(const Step& step) override {
    const bool warming = step.epoch < warmup_;
    const bool last = step.epoch + 1 == step.epochs;  // nobody would ask the attacker any more
    if (weight_ == 0 || last || (steps_ > 0 && !warming)) return;
    const auto members = answers(step.split.train, step);
    const auto others = answers(step.split.reference, step);
    auto generator = step.stream.at("attacker", static_cast<uint64_t>(step.epoch)).generator();
    for (int64_t pass = 0; pass < (warming ? warmup_passes_ : 1); ++pass) {
      const auto order = torch::randperm(members.y.size(0), generator, torch::kLong);
      for (const auto& in : order.split(batch_)) {
        const auto out = torch::randint(0, others.y.size(0), in.sizes(), generator, torch::kLong);
        attacker_.learn(members.at(in), others.at(out), step);
      }
    }
  }

  void state(State& state) override {
    if (attacker_.started()) attacker_.state(state);  // released: its work is done
  }

 private:
  static LabelledLogits answers(const Dataset& piece, const Step& step) {
    const auto logits = queried_logits(step.model, {}, piece.x, step.type, step.device);
    return {logits.to(step.device), piece.y.to(step.device)};
  }

  /// Whether the model trains without the attacker: an attacker who makes passes after epochs has
  /// learnt nothing in the first.
  bool plain(const Step& step) const {
    return weight_ == 0 || step.epoch < std::max<int64_t>(warmup_, steps_ > 0 ? 0 : 1);
  }

  double weight_;
  int64_t warmup_, warmup_passes_, steps_, target_steps_, batch_;
  InnerAttacker attacker_;
};

IMPRINT_DEFENSE(AdversarialRegularization, "adversarial_regularization",
                "min-max training against an inner membership attacker",
                "Nasr et al., CCS 2018, Eq. 6-8");

}  // namespace
}  // namespace imprint::adversarial_regularization
