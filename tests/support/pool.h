#pragma once

#include <deque>

#include "framework/privacy/attack.h"
#include "framework/privacy/scoring.h"
#include "tests/support/fixtures.h"

namespace imprint {

/// A made-up pool: a target and shadows that answer with log-odds difficulty + gain * (it trained
/// on the record) + noise. Two classes, all labels 1, so that log-odds are the second logit. Blocks
/// of two with complementary masks, the target in a block of its own.
struct MadeUpPool {
  struct Options {
    int64_t records = 120, population = 60;
    size_t shadows = 8;
    double gain = 2;
    bool target_knows = true;  ///< false: the target's answers are noise
  };

  MadeUpPool(uint64_t seed, const Options& options) {
    const Stream stream(seed);
    const auto normal = [&](const char* what, uint64_t index, int64_t n) {
      return torch::randn({n}, stream.at(what, index).generator(), torch::kDouble);
    };
    const auto n = options.records, m = options.population;
    const auto difficulty = normal("difficulty", 0, n) * 2, theirs = normal("theirs", 0, m) * 2;
    const auto mask = [&](uint64_t model) {
      const auto half =
          torch::randperm(n, stream.at("mask", model / 2).generator(), torch::kLong) < n / 2;
      return model % 2 == 0 ? half : half.logical_not();
    };
    for (uint64_t i = 0; i <= options.shadows; ++i) {
      const auto model = i == 0 ? 0 : i + 1;  // 1 is the target's partner
      const auto member = mask(model);
      auto odds = difficulty + options.gain * member + normal("noise", model, n);
      if (i == 0 && !options.target_knows) odds = normal("nothing", 0, n);
      models.emplace_back(Answers{torch::stack({torch::zeros_like(odds), odds}, 1), {}},
                          torch::ones({n}, torch::kLong), member, static_cast<int64_t>(model / 2));
      const auto about_them = theirs + normal("population", model, m);
      models.back().add_population(
          {torch::stack({torch::zeros_like(about_them), about_them}, 1), {}},
          torch::ones({m}, torch::kLong));
    }
  }

  Scene scene(const Needs& needs) const {
    std::vector<const Observation*> shadows;
    for (size_t i = 1; i < models.size(); ++i) shadows.push_back(&models[i]);
    return {models.front(), shadows, needs, Stream(1)};
  }

  Tensor member() const { return models.front().member(); }
  /// [shadows, n]
  Tensor shadow_phi() const {
    std::vector<Tensor> all;
    for (size_t i = 1; i < models.size(); ++i)
      all.push_back(models[i].columns(Piece::candidates, {}).phi);
    return torch::stack(all);
  }
  Tensor shadow_in() const {
    std::vector<Tensor> all;
    for (size_t i = 1; i < models.size(); ++i) all.push_back(models[i].member());
    return torch::stack(all);
  }

  std::deque<Answered> models;  ///< the target first
};

/// How well an attack does on a made-up world, which has a scene and members.
template <class World>
Score score_on(const World& world, Attack& attack) {
  const auto found = run_attack(attack, world.scene(attack.needs()), false);
  const Tensor scores = found.scores.contiguous();
  const Tensor decisions = found.decisions.to(torch::kUInt8),
               member = world.member().to(torch::kUInt8);
  const auto n = static_cast<size_t>(scores.numel());
  return score({scores.const_data_ptr<double>(), n}, {decisions.const_data_ptr<uint8_t>(), n},
               {member.const_data_ptr<uint8_t>(), n});
}

}  // namespace imprint
