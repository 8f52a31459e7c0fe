#include "framework/runs/stored_observation.h"

namespace imprint {
namespace {

const Dataset& piece_of(const View& seen, Piece piece) {
  return piece == Piece::candidates ? seen.candidates : seen.split.population;
}

// Per test record, whether the released model classifies it correctly.
Tensor test_correct(Service& service, const View& seen, const Tensor& label) {
  if (seen.test_is_non_members)
    return label.eq(seen.candidates.y).masked_select(seen.member.logical_not() & seen.natural);
  const auto& test = seen.split.test;
  return columns_of(service.ask(test.x), test.y).label.eq(test.y);
}

}  // namespace

// Columns are mapped, so that those of many models need no memory of their own.
const std::map<std::string, Tensor>& StoredObservation::columns_file(
    Piece piece, const Transform& transform) const {
  const auto& address = observed_.signals.at({piece, transform.name()});
  const auto found = mapped_.find(address);
  if (found != mapped_.end()) return found->second;
  return mapped_[address] = store_.mapped_tensors("signals", address, "columns");
}

Tensor StoredObservation::y(Piece piece) const { return columns_file(piece, {}).at("y"); }

Tensor StoredObservation::member() const {
  return columns_file(Piece::candidates, {}).at("member");
}

Tensor StoredObservation::natural() const {
  return columns_file(Piece::candidates, {}).at("natural");
}

int64_t StoredObservation::classes() const {
  return plan_.trainings.at(observed_.release.train).deal->data.classes;
}

Columns StoredObservation::columns(Piece piece, const Transform& transform) const {
  const auto& file = columns_file(piece, transform);
  return {file.at("label"), file.at("true_log_p"), file.at("phi")};
}

Answers StoredObservation::answers(Piece piece, const Transform& transform) const {
  auto tensors =
      store_.tensors("signals", observed_.signals.at({piece, transform.name()}), "answers");
  return {tensors["logits"], tensors["log_p"]};
}

Records StoredObservation::records(Piece piece) const {
  return piece_of(view_of(plan_.trainings.at(observed_.release.train)), piece).x;
}

std::shared_ptr<Service> StoredObservation::service() const {
  const auto seen = view_of(plan_.trainings.at(observed_.release.train));
  return service_of(load_release(plan_, observed_.release, store_, seen.split));
}

void do_signals(const Plan& plan, const SignalsJob& job, const Store& store, const Recipe& recipe) {
  const auto seen = view_of(plan.trainings.at(job.release.train));
  const auto service = service_of(load_release(plan, job.release, store, seen.split));
  const auto& piece = piece_of(seen, job.piece);
  const auto answers = service->ask(piece.x, job.transform);
  const auto [label, log_p, phi] = columns_of(answers, piece.y);
  std::map<std::string, Tensor> tensors{
      {"y", piece.y}, {"label", label}, {"true_log_p", log_p}, {"phi", phi}};
  if (job.piece == Piece::candidates && job.transform.identity()) {
    tensors["member"] = seen.member;
    tensors["record"] = seen.record;
    tensors["natural"] = seen.natural;
    tensors["tuning"] = seen.tuning;
    tensors["test_correct"] = test_correct(*service, seen, label);
  }
  Draft draft(store, "signals", job.address);
  draft.text("job.yaml", recipe.to_yaml());
  draft.tensors(tensors, "columns");
  if (job.whole)
    draft.tensors(answers.logits.defined() ? Tensors{{"logits", answers.logits}}
                                           : Tensors{{"log_p", answers.log_p}},
                  "answers");
  draft.commit();
}

}  // namespace imprint
