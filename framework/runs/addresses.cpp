#include "framework/runs/addresses.h"

#include <algorithm>

#include "framework/config/digest.h"

namespace imprint {

std::string chain_address(const Chain& chain, bool with_late) {
  std::string text;
  for (const auto& link : chain.links()) {
    // A defense that acts only after training leaves the training as it is.
    if (!Chain::trains(link) && (!with_late || link.about->hooks.empty())) continue;
    text += link.about->name + "\n" + link.reading->address(with_late) + "\n" +
            link.about->digest() + "\n";
  }
  return text;
}

std::string training_code() {
  static const auto digest = Sha256()
                                 .field(build_version())
                                 .field(folder_digest("framework/data"))
                                 .field(folder_digest("framework/training"))
                                 .hex();
  return digest;
}

std::string privacy_code() {
  static const auto digest =
      Sha256().field(training_code()).field(folder_digest("framework/privacy")).hex();
  return digest;
}

std::string snapshot_address(const std::string& train, int64_t epoch) {
  return Sha256().field("snapshot").field(train).field(std::to_string(epoch)).hex();
}

}  // namespace imprint
