#include "framework/training/defense.h"

namespace imprint::distillation {
namespace {

/// Knowledge distillation (Hinton et al. 2015): the student learns from an undefended teacher of
/// the same members, loss = a T^2 KL(teacher_T, student_T) + (1 - a) CE per record.
///
/// Keys: temperature (10), weight (0.5).
class Distillation final : public Defense {
 public:
  explicit Distillation(Keys keys)
      : temperature_(keys.number("temperature", 10).above(0).doc("T, softens both distributions")),
        weight_(
            keys.number("weight", 0.5).within(0, 1).doc("a, share of the teacher in the loss")) {}

  std::vector<Training> first(int64_t, const Stream&) const override { return {Training{}}; }

  void data(Split&, const std::vector<Trained>& first, const Stream&) override {
    teacher_ = (first.front().logits(first.front().members.x) / temperature_).log_softmax(1);
  }

  Tensor loss(Tensor losses, const Tensor& logits, const Batch& batch, const Step&) override {
    const auto teacher = teacher_.index_select(0, batch.index).to(logits.options());
    const auto student = (class_logits(logits) / temperature_).log_softmax(1);
    const auto divergence = (teacher.exp() * (teacher - student)).sum(1);
    return weight_ * temperature_ * temperature_ * divergence + (1 - weight_) * losses;
  }

 private:
  double temperature_, weight_;
  Tensor teacher_;
};

IMPRINT_DEFENSE(Distillation, "distillation",
                "learns from an undefended teacher's softened answers",
                "Hinton et al., 2015; Shejwalkar and Houmansadr, AAAI 2021");

}  // namespace
}  // namespace imprint::distillation
