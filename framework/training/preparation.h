#pragma once

#include "framework/data/augment.h"
#include "framework/training/model.h"

namespace imprint {

/// What stands between a record and the network: the keys `normalise`, `centre` and `augment` of
/// `data`. Augmentation is for training batches only; the others are part of the model, so that
/// records, queries and attacks stay in the data's own units.
struct Preparation {
  std::string normalise = "off";        ///< off, standard (the data set's constants), members
  bool centre = false;                  ///< subtract the mean record of the members
  std::vector<double> mean, deviation;  ///< standard's constants, per channel
  Augmentation augment;

  /// For addresses.
  std::string text() const;
};

/// `network` behind its normalisation (the network itself when there is none). What is computed
/// from `members` becomes buffers of the model and is stored with its weights; without members the
/// buffers only have their shapes, to be loaded.
std::shared_ptr<Model> prepared(std::shared_ptr<Model> network, const Preparation& preparation,
                                const Records& members);

/// The network itself, without what stands before it.
Model& network_of(Model& model);

}  // namespace imprint
