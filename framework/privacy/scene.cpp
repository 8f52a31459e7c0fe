#include "framework/privacy/scene.h"

#include <fmt/format.h>

#include <algorithm>

namespace imprint {
namespace {

// With fewer shadows of a pool, scores of a shadow playing the target lie on another scale.
constexpr size_t enough_to_practise = 4;

}  // namespace

std::string Needs::words() const {
  std::string text = access == Access::weights ? "white box"
                     : signal == Signal::label ? "black box, labels only"
                     : signal == Signal::phi   ? "black box, probability of the true class"
                     : signal == Signal::log_p ? "black box, probabilities"
                                               : "black box, logits";
  if (access == Access::queries) text += ", asks about records of its own making";
  if (!transforms.empty())
    text += fmt::format(", asks about {} changed versions of each record", transforms.size());
  text += "; knows the true labels";
  if (records) text += " and the records";
  if (population) text += "; has records that nobody trained on";
  if (shadows == Shadows::pool) return text + "; trains shadow models on halves of the candidates";
  if (shadows == Shadows::one) return text + "; learns from one shadow model";
  return text + (decides ? "; no shadow model" : "; one shadow model, for the threshold");
}

void Seen::check(const Transform& transform) const {
  const auto& declared = needs_.transforms;
  TORCH_CHECK(transform.identity() ||
                  std::find(declared.begin(), declared.end(), transform) != declared.end(),
              "this attack asked about records after '", transform.name(),
              "' without declaring that it needs them");
}

void Seen::check(Needs::Signal least) const {
  TORCH_CHECK(needs_.signal >= least, "this attack asked for ",
              least == Needs::Signal::phi     ? "the true class's probability"
              : least == Needs::Signal::log_p ? "all probabilities"
                                              : "logits",
              " without declaring that it needs them");
}

Tensor Seen::label(const Transform& transform) const {
  check(transform);
  return picked(model_->columns(piece_, transform).label);
}

Tensor Seen::true_log_p(const Transform& transform) const {
  check(transform);
  check(Needs::Signal::phi);
  return picked(model_->columns(piece_, transform).true_log_p);
}

Tensor Seen::phi(const Transform& transform) const {
  check(transform);
  check(Needs::Signal::phi);
  return picked(model_->columns(piece_, transform).phi);
}

Tensor Seen::log_p(const Transform& transform) const {
  check(transform);
  check(Needs::Signal::log_p);
  return picked(log_p_of(model_->answers(piece_, transform)));
}

Tensor Seen::logits(const Transform& transform) const {
  check(transform);
  check(Needs::Signal::logits);
  const auto answers = model_->answers(piece_, transform);
  TORCH_CHECK(answers.logits.defined(),
              "a defense changes what this service returns: it has no logits");
  return picked(answers.logits);
}

Records Seen::records() const {
  TORCH_CHECK(needs_.records,
              "this attack asked for the records without declaring that it needs them");
  const auto records = model_->records(piece_);
  return rows_.defined() ? records.at(rows_) : records;
}

Shadow::Shadow(const Observation& model, const Needs& needs)
    : Seen(model, Piece::candidates, needs) {
  if (needs.shadows != Needs::Shadows::one) return;
  const auto natural = model.natural();
  if (!natural.all().item<bool>()) rows_ = natural.nonzero().squeeze(1);
}

Seen Seen::population() const {
  TORCH_CHECK(needs_.population,
              "this attack asked about the population without declaring that it needs it");
  return {*model_, Piece::population, needs_};
}

Scene::Scene(const Observation& target, std::vector<const Observation*> shadows, Needs needs,
             Stream stream)
    : Seen(target, Piece::candidates, needs), shadows_(std::move(shadows)), stream_(stream) {}

size_t Scene::shadows() const {
  switch (needs_.shadows) {
    case Needs::Shadows::none:
      return 0;
    case Needs::Shadows::one:
      return std::min<size_t>(shadows_.size(), 1);
    case Needs::Shadows::pool:
      return shadows_.size();
  }
  return 0;
}

Shadow Scene::shadow(size_t i) const {
  TORCH_CHECK(i < shadows(), "there is no shadow ", i, ": the scene has ", shadows(),
              needs_.shadows == Needs::Shadows::none
                  ? " (the attack did not declare that it needs shadows)"
                  : "");
  return {*shadows_[i], needs_};
}

Service& Scene::service() const {
  if (!service_) service_ = model_->service();
  return *service_;
}

Tensor Scene::ask_labels(const Tensor& x) const {
  TORCH_CHECK(needs_.access != Needs::Access::answers,
              "this attack asked about records of its own without declaring that it needs to");
  const auto answers = service().ask(x);
  return (answers.logits.defined() ? answers.logits : answers.log_p).argmax(1);
}

Service& Scene::inside() const {
  TORCH_CHECK(needs_.access == Needs::Access::weights,
              "this attack looked inside the model without declaring that it needs to");
  return service();
}

Rehearsal::Rehearsal(const Scene& scene) : scene_(scene) {
  const auto& all = scene.shadows_;
  if (all.empty()) return;
  if (scene.needs_.shadows == Needs::Shadows::one) left_ = {all.front()};
  if (scene.needs_.shadows == Needs::Shadows::pool)
    std::copy_if(all.begin(), all.end(), std::back_inserter(left_),
                 [&](const auto* each) { return each->block() != all.front()->block(); });
}

bool Rehearsal::possible() const {
  return !scene_.shadows_.empty() &&
         (scene_.needs_.shadows != Needs::Shadows::pool || left_.size() >= enough_to_practise);
}

Scene Rehearsal::scene() const {
  Scene scene(*scene_.shadows_.front(), left_, scene_.needs_, scene_.stream_.at("rehearsal"));
  scene.rehearsal_ = true;
  return scene;
}

}  // namespace imprint
