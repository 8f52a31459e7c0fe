// A plugin built out of tree: one file, four lines of CMake.
#include "framework/privacy/attack.h"

namespace imprint::top_two {
namespace {

/// Scores a record by how far the model's answer is ahead of its second choice. No keys of its own.
class TopTwo final : public Attack {
 public:
  explicit TopTwo(Keys) {}

  Needs needs() const override { return {}; }

  Findings run(const Scene& scene) override {
    const auto best = std::get<0>(scene.log_p().topk(2, 1));
    return {best.select(1, 0) - best.select(1, 1), {}, {}};
  }
};

IMPRINT_ATTACK(TopTwo, "top_two", "the gap between the first and the second choice", "an example");

}  // namespace
}  // namespace imprint::top_two
