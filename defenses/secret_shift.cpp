#include "framework/training/defense.h"

namespace imprint::secret_shift {
namespace {

/// Trains on records moved by a secret vector and moves every query by the same one, so that the
/// weights are those of a network for other data (paper "No Prior, No Leakage").
///
/// Keys: norm (1).
class SecretShift final : public Defense {
 public:
  explicit SecretShift(Keys keys)
      : norm_(keys.number("norm", 1).at_least(0).doc("Euclidean length of the secret vector")) {}

  void data(Split& split, const std::vector<Trained>&, const Stream& stream) override {
    const auto drawn = torch::randn(split.train.x.shape(), stream.generator(), torch::kDouble);
    shift_ = drawn * (norm_ / drawn.norm());
    for (auto* piece : {&split.train, &split.reference})
      if (!piece->empty()) piece->x = query(piece->x.as_numbers());
  }

  Tensor query(Tensor x) const override { return x + shift_.to(x.options()); }

  void state(State& state) override { state.tensor("secret_shift.shift", shift_); }

 private:
  double norm_;
  Tensor shift_;
};

IMPRINT_DEFENSE(SecretShift, "secret_shift",
                "trains and answers on records moved by a secret vector",
                "No Prior, No Leakage (arXiv 2509.21296), Section 4 and Appendix D");

}  // namespace
}  // namespace imprint::secret_shift
