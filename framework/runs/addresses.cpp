#include "framework/runs/addresses.h"

#include "framework/config/digest.h"

namespace imprint {

void add_chain(Recipe& recipe, const Chain& chain, bool with_late) {
  int number = 0;
  for (const auto& link : chain.links()) {
    // A defense that acts only after training leaves the training as it is.
    if (!Chain::trains(link) && (!with_late || link.about->hooks.empty())) continue;
    recipe.component(fmt::format("defense {}", ++number), *link.about, *link.reading, with_late);
  }
}

void add_training_code(Recipe& recipe) {
  recipe.add("version", build_version());
  static const auto data = folder_digest("framework/data");
  static const auto training = folder_digest("framework/training");
  recipe.add("framework/data", data).add("framework/training", training);
}

void add_privacy_code(Recipe& recipe) {
  add_training_code(recipe);
  static const auto privacy = folder_digest("framework/privacy");
  recipe.add("framework/privacy", privacy);
}

std::string snapshot_address(const std::string& train, int64_t epoch) {
  return Sha256().field("snapshot").field(train).field(std::to_string(epoch)).hex();
}

}  // namespace imprint
