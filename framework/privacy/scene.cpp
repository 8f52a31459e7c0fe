#include "framework/privacy/scene.h"

namespace imprint {
namespace {

Tensor predicted(const Answers& answers) { return answers.log_p.argmax(1); }

Tensor log_p_of(const Answers& answers, const Needs& needs) {
  TORCH_CHECK(needs.signal != Needs::Signal::label,
              "this attack declared that it sees labels only, and asked for probabilities");
  return answers.log_p;
}

Tensor logits_of(const Answers& answers, const Needs& needs) {
  TORCH_CHECK(needs.signal == Needs::Signal::logits,
              "this attack asked for logits without declaring that it needs them");
  TORCH_CHECK(answers.logits.defined(),
              "a defense changes what this service returns: it has no logits");
  return answers.logits;
}

}  // namespace

std::string Needs::words() const {
  std::string text = "black box, ";
  text += signal == Signal::label   ? "labels only"
          : signal == Signal::log_p ? "probabilities"
                                    : "logits";
  text += "; knows the true labels; ";
  if (shadows) return text + "learns from shadow models";
  return text + (decides ? "no shadow model" : "one shadow model, for the threshold");
}

Tensor Shadow::label() const { return predicted(seen_.answers); }
Tensor Shadow::log_p() const { return log_p_of(seen_.answers, needs_); }
Tensor Shadow::logits() const { return logits_of(seen_.answers, needs_); }

Scene::Scene(const Observation& target, std::vector<const Observation*> shadows, Needs needs,
             Stream stream)
    : target_(&target), shadows_(std::move(shadows)), needs_(needs), stream_(stream) {}

Tensor Scene::label() const { return predicted(target_->answers); }
Tensor Scene::log_p() const { return log_p_of(target_->answers, needs_); }
Tensor Scene::logits() const { return logits_of(target_->answers, needs_); }

Shadow Scene::shadow(size_t i) const {
  TORCH_CHECK(i < shadows(), "there is no shadow ", i, ": the scene has ", shadows(),
              needs_.shadows ? "" : " (the attack did not declare that it needs shadows)");
  return {*shadows_[i], needs_};
}

Scene Rehearsal::scene() const {
  return {*scene_.shadows_.front(),
          {scene_.shadows_.begin() + 1, scene_.shadows_.end()},
          scene_.needs_,
          scene_.stream_.at("rehearsal")};
}

}  // namespace imprint
