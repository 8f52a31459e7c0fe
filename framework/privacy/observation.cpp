#include "framework/privacy/observation.h"

namespace imprint {

Tensor Answered::y(Piece piece) const { return piece == Piece::candidates ? y_ : population_y_; }

Columns Answered::columns(Piece piece, const Transform& transform) const {
  return columns_of(answers(piece, transform), y(piece));
}

Answers Answered::answers(Piece piece, const Transform& transform) const {
  TORCH_CHECK(transform.identity(), "there are no answers about records after '", transform.name(),
              "'");
  const auto& found = piece == Piece::candidates ? answers_ : population_;
  TORCH_CHECK(found.logits.defined() || found.log_p.defined(),
              "there are no answers about the population");
  return found;
}

Records Answered::records(Piece) const {
  TORCH_CHECK(false, "only answers are at hand, not the records that they are about");
}

std::shared_ptr<Service> Answered::service() const {
  TORCH_CHECK(false, "only answers are at hand, not the model that gave them");
}

}  // namespace imprint
