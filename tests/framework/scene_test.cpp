#include "tests/support/fixtures.h"

namespace imprint::scene_test {
namespace {

Observation seen(const std::vector<double>& p, std::vector<int64_t> y = {},
                 const Tensor& member = {}) {
  if (y.empty()) y.assign(p.size(), 0);
  return {answers_from(confidences(p), {}), torch::tensor(y), member};
}

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "(accepted)";
}

TEST(Scene, HandsOutOnlyWhatWasDeclared) {
  const auto target = seen({0.9, 0.2});
  const auto shadow = seen({0.8, 0.3}, {}, torch::tensor({true, false}));
  const Scene labels(target, {&shadow}, {.signal = Needs::Signal::label}, Stream(0));
  EXPECT_TRUE(torch::equal(labels.label(), torch::tensor({0, 1})));
  EXPECT_NE(refusal([&] { labels.log_p(); }).find("declared that it sees labels only"),
            std::string::npos);
  EXPECT_NE(refusal([&] { labels.logits(); }).find("without declaring"), std::string::npos);
  EXPECT_EQ(labels.shadows(), 0U);
  EXPECT_NE(refusal([&] { (void)labels.shadow(0); }).find("did not declare that it needs shadows"),
            std::string::npos);
  const Scene full(target, {&shadow}, {.signal = Needs::Signal::logits, .shadows = true},
                   Stream(0));
  EXPECT_EQ(full.shadows(), 1U);
  EXPECT_TRUE(full.shadow(0).member()[0].item<bool>());
  EXPECT_EQ(full.logits().size(1), 2);
}

TEST(Scene, HasNoLogitsWhereADefenseChangesTheOutput) {
  const Observation target{answers_from({}, confidences({0.9})), zeros(1), {}};
  const Scene scene(target, {}, {.signal = Needs::Signal::logits}, Stream(0));
  EXPECT_NE(refusal([&] { scene.logits(); }).find("it has no logits"), std::string::npos);
}

TEST(RunAttack, FitsItsThresholdOnTheShadow) {
  // The shadow's members have p of at least 0.8, its others at most 0.5: the threshold is log 0.8.
  const auto shadow = seen({0.9, 0.8, 0.5, 0.3}, {}, torch::tensor({true, true, false, false}));
  const auto target = seen({0.85, 0.75, 0.8});
  const auto attack = attack_of("loss");
  const auto found =
      run_attack(*attack, Scene(target, {&shadow}, attack->needs(), Stream(0)), false);
  EXPECT_TRUE(torch::equal(found.decisions, torch::tensor({true, false, true})));
}

TEST(RunAttack, FitsOneThresholdPerClassAndFallsBackToTheGlobalOne) {
  // Class 0: threshold p = 0.8 of the shadow's first two; class 1 has only members: global
  // threshold.
  const auto member = torch::tensor({true, false, true, true});
  const auto shadow = seen({0.8, 0.7, 0.1, 0.2}, {0, 0, 1, 1}, member);
  const auto target = seen({0.75, 0.85, 0.1, 0.4}, {0, 0, 1, 1});
  const auto attack = attack_of("loss");
  const auto found =
      run_attack(*attack, Scene(target, {&shadow}, attack->needs(), Stream(0)), true);
  EXPECT_FALSE(found.decisions[0].item<bool>());
  EXPECT_TRUE(found.decisions[1].item<bool>());
  // Globally: scores log 0.8, 0.7 (out), 0.9, 0.8 -> threshold log 0.8; p_y of class 1 are 0.9,
  // 0.6.
  EXPECT_TRUE(found.decisions[2].item<bool>());
  EXPECT_FALSE(found.decisions[3].item<bool>());
}

TEST(RunAttack, KeepsTheAttacksOwnDecisions) {
  const auto shadow = seen({0.9, 0.1}, {}, torch::tensor({false, true}));
  const auto target = seen({0.9, 0.1});
  const auto attack = attack_of("correctness");
  const auto found =
      run_attack(*attack, Scene(target, {&shadow}, attack->needs(), Stream(0)), true);
  EXPECT_TRUE(torch::equal(found.decisions, torch::tensor({true, false})));
}

TEST(RunAttack, RefusesScoresThatAreNotNumbers) {
  class Broken final : public Attack {
    Needs needs() const override { return {}; }
    Findings run(const Scene& scene) override {
      return {torch::full({scene.size()}, std::nan("")), {}, {}};
    }
  } broken;
  const auto target = seen({0.5});
  const Scene scene(target, {}, {}, Stream(0));
  EXPECT_NE(refusal([&] { run_attack(broken, scene, true); }).find("a score that is not a number"),
            std::string::npos);
}

TEST(Signals, ExactLogSoftmaxIsTheDefinition) {
  const auto logits = torch::randn({50, 7}, Stream(0).generator(), torch::kDouble) * 5;
  EXPECT_TRUE(torch::allclose(exact_log_softmax(logits), logits.log_softmax(1), 1e-12, 1e-12));
}

TEST(Signals, ModifiedEntropyIsTheDefinitionRecordByRecord) {
  const auto log_p =
      (torch::randn({20, 5}, Stream(1).generator(), torch::kDouble) * 3).log_softmax(1);
  const auto y = torch::randint(0, 5, {20}, Stream(2).generator(), torch::kLong);
  const auto fast = modified_entropy_of(log_p, y);
  for (int64_t i = 0; i < 20; ++i) {
    double slow = 0;
    for (int64_t k = 0; k < 5; ++k) {
      const double p = std::exp(log_p[i][k].item<double>());
      slow -= k == y[i].item<int64_t>() ? (1 - p) * std::log(p) : p * std::log(1 - p);
    }
    EXPECT_NEAR(fast[i].item<double>(), slow, 1e-9);
  }
}

TEST(Needs, SayTheThreatModelInWords) {
  EXPECT_EQ(attack_of("loss")->needs().words(),
            "black box, probabilities; knows the true labels; one shadow model, for the threshold");
  EXPECT_EQ(attack_of("correctness")->needs().words(),
            "black box, labels only; knows the true labels; no shadow model");
}

}  // namespace
}  // namespace imprint::scene_test
