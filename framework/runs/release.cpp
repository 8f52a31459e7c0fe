#include "framework/runs/release.h"

#include "framework/data/formats/weights.h"
#include "framework/runs/addresses.h"

namespace imprint {
namespace {

// No members, in the shape of the split's: what a model computes from its members is stored.
Records nobody(const Split& split) { return split.train.x.at(torch::empty({0}, torch::kLong)); }

}  // namespace

Chain fresh_chain(const std::vector<Value>& specs) {
  Problems problems;
  auto chain = build_chain(specs, problems);
  problems.raise();
  return chain;
}

View view_of(const TrainJob& training) {
  auto seen =
      view(training.deal->data, training.deal->partition, training.index, training.deal->stream);
  if (training.members.defined()) seen.split.train = seen.split.train.at(training.members);
  return seen;
}

std::shared_ptr<Model> build_model(const TrainJob& training, const Shape& shape,
                                   const Records& members) {
  Problems problems;
  auto built = build(ModelRegistry::instance(), "model", training.model_spec, problems, {}, shape);
  problems.raise();
  return prepared(built.component, training.preparation, members);
}

void load_given(Model& model, const std::string& weights) {
  if (weights != "as_built") set_weights(network_of(model), load_weights(weights), weights);
}

void write_snapshot(const Store& store, const TrainJob& training, int64_t epoch, Model& model,
                    Chain& chain) {
  const auto address = snapshot_address(training.address, epoch);
  if (store.has("snapshot", address)) return;
  State weights(State::Direction::save);
  weights.module("model", model);
  State rest(State::Direction::save);
  chain.state(rest);
  Draft draft(store, "snapshot", address);
  draft.tensors(weights.tensors, "weights");
  draft.tensors(rest.tensors, "defenses");
  draft.commit();
}

Released load_release(const Plan& plan, const Release& release, const Store& store,
                      const Split& split) {
  const auto& training = plan.trainings.at(release.train);
  Released released{fresh_chain(release.chain), {}};
  const auto address = snapshot_address(release.train, release.epoch);
  const auto shape = model_shape(split, training.schedule->loss, released.chain);
  const auto model = build_model(training, shape, nobody(split));
  place(*model, training.schedule->type, training.device);
  State weights(State::Direction::load);
  weights.tensors = store.tensors("snapshot", address, "weights");
  weights.module("model", *model);
  State rest(State::Direction::load);
  rest.tensors = store.tensors("snapshot", address, "defenses");
  released.chain.state(rest);
  released.trained = {model, training.schedule->type, training.device, split.train};
  released.chain.trained(*model, split, training.stream.at("trained"));
  return released;
}

std::shared_ptr<Service> service_of(const Released& released) {
  const auto& [model, type, device, members] = released.trained;
  return std::make_shared<Service>(model, released.chain, type, device);
}

std::vector<std::vector<Trained>> load_first(const Plan& plan, const TrainJob& training,
                                             const Store& store, const Split& split) {
  std::vector<std::vector<Trained>> first;
  for (const auto& link : training.first) {
    first.emplace_back();
    for (const auto& address : link) {
      const auto& before = plan.trainings.at(address);
      const Release release{address, before.schedule->epochs, before.chain};
      first.back().push_back(load_release(plan, release, store, split).trained);
    }
  }
  return first;
}

void check_weights(const TrainJob& training) {
  const auto seen = view_of(training);
  auto chain = fresh_chain(training.chain);
  const auto shape = model_shape(seen.split, training.schedule->loss, chain);
  load_given(*build_model(training, shape, nobody(seen.split)), training.weights);
}

}  // namespace imprint
