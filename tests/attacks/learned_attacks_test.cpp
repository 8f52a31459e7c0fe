// Tests of the attacks that learn from one shadow (gap, rotation, translation, neural,
// likelihood_ratio) or from strangers (quantile), and of what they learn with.
#include <torch/csrc/autograd/autograd.h>
#include <torch/optim/adam.h>

#include <cmath>

#include "framework/privacy/changed_labels.h"
#include "framework/privacy/pattern_table.h"
#include "framework/training/layers.h"
#include "tests/support/live.h"
#include "tests/support/pool.h"

namespace imprint::learned_attacks_test {
namespace {

TEST(PatternTable, IsTheSmoothedLogRatioOfShares) {
  // Pattern 0: two members, no other; pattern 1: one member, three others; pattern 2: nobody.
  const auto patterns = torch::tensor({0, 0, 1, 1, 1, 1});
  const auto member = torch::tensor({true, true, true, false, false, false});
  const PatternTable table(patterns, member, 3);
  const auto odds = table.log_odds(torch::tensor({0, 1, 2}));
  EXPECT_NEAR(odds[0].item<double>(), std::log((3.0 / 6) / (1.0 / 6)), 1e-12);
  EXPECT_NEAR(odds[1].item<double>(), std::log((2.0 / 6) / (4.0 / 6)), 1e-12);
  EXPECT_EQ(odds[2].item<double>(), 0);
}

// Records 0..n-1 of `classes` classes, right with the given chance.
Answered right_with(double chance_member, double chance_other, int64_t n, uint64_t seed) {
  const auto member = torch::arange(n) < n / 2;
  const auto chance =
      torch::where(member, torch::full({n}, chance_member), torch::full({n}, chance_other));
  const auto right = torch::rand({n}, Stream(seed).generator(), torch::kFloat) < chance;
  const auto y = torch::arange(n) % 2;
  const auto logits = torch::one_hot(torch::where(right, y, 1 - y), 2).to(torch::kDouble);
  return {{logits, {}}, y, member};
}

TEST(Gap, DecidesLikeCorrectnessWhereMembersAreMoreOftenRight) {
  const auto shadow = right_with(0.95, 0.6, 400, 1), target = right_with(0.95, 0.6, 400, 2);
  const auto gap = attack_of("gap"), correctness = attack_of("correctness");
  const auto found = run_attack(*gap, Scene(target, {&shadow}, gap->needs(), Stream(0)), true);
  const auto plain =
      run_attack(*correctness, Scene(target, {&shadow}, correctness->needs(), Stream(0)), true);
  EXPECT_TRUE(torch::equal(found.decisions, plain.decisions));
}

TEST(Gap, TurnsRoundWhereMembersAreLessOftenRight) {
  // A defense may make members look worse; one number from a shadow is enough to notice.
  const auto shadow = right_with(0.3, 0.9, 400, 3), target = right_with(0.3, 0.9, 400, 4);
  const auto gap = attack_of("gap");
  const auto found = run_attack(*gap, Scene(target, {&shadow}, gap->needs(), Stream(0)), true);
  EXPECT_TRUE(
      torch::equal(found.decisions,
                   target.columns(Piece::candidates, {}).label.ne(target.y(Piece::candidates))));
}

TEST(LikelihoodRatio, MatchesHandValues) {
  // Log-odds of the shadow's members 2 and 4 (mean 3, variance 1), of others 0 and 2 (1, 1): at 2
  // both densities are equal, at 3 the difference of squares is (0 - 4) / 2.
  const auto logits = [](const std::vector<double>& phi) {
    const auto odds = torch::tensor(phi, torch::kDouble);
    return Answers{torch::stack({odds, torch::zeros_like(odds)}, 1), {}};
  };
  const Answered shadow(logits({2, 4, 0, 2}), zeros(4), torch::tensor({true, true, false, false}));
  const Answered target(logits({2, 3}), zeros(2), {});
  const auto attack = attack_of("likelihood_ratio");
  const auto scores = attack->run(Scene(target, {&shadow}, attack->needs(), Stream(0))).scores;
  EXPECT_NEAR(scores[0].item<double>(), 0, 1e-9);
  EXPECT_NEAR(scores[1].item<double>(), 2, 1e-9);
}

// The same network, optimizer and order of records with autograd and LibTorch's own Adam.
TEST(MembershipNet, LearnsAsAutogradAndAdamDo) {
  Problems problems;
  const auto spec = parse_yaml("{hidden: [5, 4], epochs: 3, batch: 8, lr: 0.01}", "");
  MembershipNet net(Keys(spec, new_reading("a test", problems)), 1);
  const Stream stream(3);
  const auto x = torch::randn({30, 6}, Stream(1).generator(), torch::kFloat);
  const auto member = torch::arange(30) % 3 == 0;
  net.learn(x, member, stream);

  const std::vector<int64_t> widths{6, 5, 4, 2};
  const auto flat = torch::rand({6 * 5 + 5 + 5 * 4 + 4 + 4 * 2 + 2}, stream.at("init").generator(),
                                torch::kFloat) *
                        2 -
                    1;
  std::vector<Tensor> parameters;
  int64_t at = 0;
  for (size_t i = 0; i + 1 < widths.size(); ++i) {
    const auto scale = 1 / std::sqrt(static_cast<double>(widths[i]));
    for (const auto& shape : {std::vector{widths[i], widths[i + 1]}, std::vector{widths[i + 1]}}) {
      const auto size = shape.size() == 2 ? shape[0] * shape[1] : shape[0];
      parameters.push_back((flat.slice(0, at, at + size) * scale).view(shape).requires_grad_());
      at += size;
    }
  }
  const auto forward = [&](const Tensor& input) {
    auto value = input.mm(parameters[0]) + parameters[1];
    value = value.relu().mm(parameters[2]) + parameters[3];
    return value.relu().mm(parameters[4]) + parameters[5];
  };
  torch::optim::Adam adam(parameters, torch::optim::AdamOptions(0.01));
  for (uint64_t epoch = 0; epoch < 3; ++epoch) {
    const auto order = torch::randperm(30, stream.at("order", epoch).generator(), torch::kLong);
    for (int64_t from = 0; from < 30; from += 8) {
      const auto rows = order.slice(0, from, std::min<int64_t>(from + 8, 30));
      adam.zero_grad();
      torch::cross_entropy_loss(forward(x.index_select(0, rows)),
                                member.index_select(0, rows).to(torch::kLong))
          .backward();
      adam.step();
    }
  }
  const auto outputs = forward(x).detach().to(torch::kDouble);
  EXPECT_TRUE(
      torch::allclose(net.log_odds(x), outputs.select(1, 1) - outputs.select(1, 0), 1e-3, 1e-4));
}

TEST(Neural, FindsMembersInAnyOrderOfTheAnswers) {
  const auto world = overfitted_pair();
  for (const auto* yaml : {"{name: neural, epochs: 100, batch: 16}",
                           "{name: neural, epochs: 40, input: logits, order: sorted}",
                           "{name: neural, epochs: 100, batch: 16, order: top, top: 2}",
                           "{name: neural, epochs: 100, batch: 16, with_label: true}"}) {
    const auto score = score_on(world, *attack_of(yaml));
    EXPECT_GT(score.auc_interval.low, 0.5) << yaml;
    EXPECT_GT(score.advantage_interval.low, 0) << yaml;
  }
}

TEST(Quantile, FindsMembersWithoutAnyShadow) {
  const auto world = overfitted_pair();
  for (const auto* yaml : {"quantile", "{name: quantile, loss: pinball, epochs: 10}"}) {
    const auto score = score_on(world, *attack_of(yaml));
    EXPECT_GT(score.auc_interval.low, 0.55) << yaml;
  }
}

TEST(Quantile, RefusesANetworkThatDoesNotExist) {
  try {
    attack_of("{name: quantile, model: mpl}");
    ADD_FAILURE() << "accepted";
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("there is no model 'mpl'; did you mean 'mlp'?"),
              std::string::npos)
        << error.what();
  }
}

TEST(Rotation, AsksAboutItsAnglesAndLearnsFromTheShadow) {
  const auto needs = attack_of("{name: rotation, angles: [0, 4, -4]}")->needs();
  ASSERT_EQ(needs.transforms.size(), 2U);  // 0 is the image itself
  EXPECT_EQ(needs.transforms[0].name(), "rotate 4");
  EXPECT_EQ(needs.signal, Needs::Signal::label);
}

TEST(Translation, MovesByItsDistanceInAllDirections) {
  EXPECT_EQ(attack_of("translation")->needs().transforms.size(), 4U);
  const auto two = attack_of("{name: translation, distance: 2}")->needs().transforms;
  EXPECT_EQ(two.size(), 8U);  // 4 d
  for (const auto& each : two) EXPECT_EQ(std::abs(each.right) + std::abs(each.down), 2);
}

TEST(ChangedLabels, LearnThatMembersAreRightMoreOften) {
  const ImageWorld world(0.95, 0.7);
  for (const auto* yaml : {"rotation", "{name: rotation, rule: table}",
                           "{name: translation, epochs: 20}", "{name: translation, rule: table}"}) {
    const auto score = score_on(world, *attack_of(yaml));
    EXPECT_GT(score.advantage_interval.low, 0.1) << yaml;
  }
  const ImageWorld fair(0.8, 0.8);
  for (const auto* yaml : {"rotation", "{name: translation, rule: table}"}) {
    const auto score = score_on(fair, *attack_of(yaml));
    EXPECT_LT(score.advantage_interval.low, 0) << yaml;
    EXPECT_GT(score.advantage_interval.high, 0) << yaml;
  }
}

// Targets and shadows whose answers have nothing to do with membership.
TEST(LearnedAttacks, KnowNothingWhereThereIsNothingToKnow) {
  constexpr int worlds = 600;
  std::map<std::string, int> covered;
  for (uint64_t seed = 0; seed < worlds; ++seed) {
    const auto model = [&](const char* who) {
      const auto stream = Stream(seed).at(who);
      const auto logits = torch::randn({200, 3}, stream.at("logits").generator(), torch::kDouble);
      const auto y = torch::randint(0, 3, {200}, stream.at("y").generator(), torch::kLong);
      return std::make_shared<Answered>(
          Answers{logits, {}}, y,
          torch::randperm(200, stream.at("member").generator(), torch::kLong) < 100);
    };
    const LivePair world{model("target"), model("shadow")};
    for (const auto* yaml : {"{name: neural, epochs: 2}", "gap", "likelihood_ratio", "loss",
                             "entropy", "modified_entropy", "correctness"}) {
      const auto score = score_on(world, *attack_of(yaml));
      covered[yaml] += score.auc_interval.low <= 0.5 && 0.5 <= score.auc_interval.high ? 1 : 0;
    }
  }
  for (const auto& [yaml, count] : covered) {
    EXPECT_GE(count, worlds * 0.925) << yaml;
    EXPECT_LE(count, worlds * 0.975) << yaml;
  }
}

// The same scores with other members drawn at random.
TEST(LearnedAttacks, OfStrangersFindNobody) {
  const auto world = overfitted_pair();
  for (const auto* yaml : {"{name: quantile, epochs: 3}", "gradient_norm",
                           "{name: gradient_norm, of: record, norm: l1}"}) {
    const auto attack = attack_of(yaml);
    const auto scores = attack->run(world.scene(attack->needs())).scores.contiguous();
    int covered = 0;
    for (uint64_t draw = 0; draw < 1000; ++draw) {
      const auto member =
          (torch::randperm(400, Stream(draw).generator(), torch::kLong) < 200).to(torch::kUInt8);
      const std::span<const uint8_t> flags(member.const_data_ptr<uint8_t>(), 400);
      const auto area = auc({scores.const_data_ptr<double>(), 400}, flags);
      const auto interval = auc_interval(area.value, area.variance, 200, 200);
      covered += interval.low <= 0.5 && 0.5 <= interval.high ? 1 : 0;
    }
    EXPECT_GE(covered, 1000 * 0.935) << yaml;
    EXPECT_LE(covered, 1000 * 0.965) << yaml;
  }
}

// The gradient of one record's loss at a time, the obvious way.
TEST(GradientNorm, IsThatOfEachRecordsOwnGradient) {
  const auto world = overfitted_pair();
  auto& service = *world.target->service();
  const auto x = world.target->records(Piece::candidates).as_numbers();
  const auto y = world.target->y(Piece::candidates);
  const auto score = [&](const std::string& yaml) {
    const auto attack = attack_of(yaml);
    return attack->run(world.scene(attack->needs())).scores;
  };
  const auto l2 = score("gradient_norm"), l1 = score("{name: gradient_norm, norm: l1}"),
             x2 = score("{name: gradient_norm, of: record}"),
             x1 = score("{name: gradient_norm, of: record, norm: l1}");
  service.model().eval();
  for (int64_t i = 0; i < 20; ++i) {
    const auto record = x.slice(0, i, i + 1).clone().requires_grad_();
    const auto loss =
        torch::cross_entropy_loss(service.model().forward(record), y.slice(0, i, i + 1));
    auto inputs = service.model().parameters();
    inputs.push_back(record);
    const auto gradients = torch::autograd::grad({loss}, inputs);
    double squares = 0, sums = 0;
    for (size_t k = 0; k + 1 < gradients.size(); ++k) {
      squares += gradients[k].square().sum().item<double>();
      sums += gradients[k].abs().sum().item<double>();
    }
    const auto near = [&](double value, double expected) {
      EXPECT_NEAR(value, -expected, 1e-4 * std::max(expected, 1e-3)) << i;
    };
    near(l2[i].item<double>(), std::sqrt(squares));
    near(l1[i].item<double>(), sums);
    near(x2[i].item<double>(), gradients.back().norm().item<double>());
    near(x1[i].item<double>(), gradients.back().abs().sum().item<double>());
  }
  EXPECT_GT(score_on(world, *attack_of("gradient_norm")).auc_interval.low, 0.55);
}

}  // namespace
}  // namespace imprint::learned_attacks_test
