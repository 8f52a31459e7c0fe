#pragma once

#include "framework/runs/plan.h"

namespace imprint {

/// What a training sees.
View view_of(const TrainJob& training);

/// A chain of its own for one job; throws ConfigError.
Chain fresh_chain(const std::vector<Value>& specs);

/// The training's network behind its normalisation by `members`; see `prepared`.
std::shared_ptr<Model> build_model(const TrainJob& training, const Shape& shape,
                                   const Records& members);

/// Weights of a model that was trained elsewhere: a file, by the names that the network gives them,
/// or `as_built`.
void load_given(Model& model, const std::string& weights);

/// Throws ConfigError when the weights given for a target do not fit its model.
void check_weights(const TrainJob& training);

/// Stores a training's weights and its defenses' state at an epoch.
void write_snapshot(const Store& store, const TrainJob& training, int64_t epoch, Model& model,
                    Chain& chain);

/// The model as it is released: weights of the released epoch, defenses with their state.
struct Released {
  Chain chain;
  Trained trained;
};

/// What answers queries in its name.
std::shared_ptr<Service> service_of(const Released& released);

/// From the store; `split` is what its training sees.
Released load_release(const Plan& plan, const Release& release, const Store& store,
                      const Split& split);

/// The trainings that a training comes after, per link of its chain.
std::vector<std::vector<Trained>> load_first(const Plan& plan, const TrainJob& training,
                                             const Store& store, const Split& split);

}  // namespace imprint
