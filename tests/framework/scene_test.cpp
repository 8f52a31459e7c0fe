#include "tests/support/fixtures.h"

namespace imprint::scene_test {
namespace {

Answered seen(const std::vector<double>& p, std::vector<int64_t> y = {},
              const Tensor& member = {}) {
  if (y.empty()) y.assign(p.size(), 0);
  return {{confidences(p), {}}, torch::tensor(y), member};
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
  EXPECT_EQ(refusal([&] { labels.true_log_p(); }),
            "this attack asked for the true class's probability without declaring that it needs "
            "them");
  EXPECT_NE(refusal([&] { labels.phi(); }), "(accepted)");
  EXPECT_NE(refusal([&] { labels.log_p(); }), "(accepted)");
  EXPECT_NE(refusal([&] { labels.logits(); }), "(accepted)");
  EXPECT_NE(refusal([&] { labels.records(); }), "(accepted)");
  EXPECT_NE(refusal([&] { labels.population(); }), "(accepted)");
  EXPECT_NE(refusal([&] { labels.ask_labels(torch::zeros({1, 2})); }), "(accepted)");
  EXPECT_NE(refusal([&] { labels.inside(); }), "(accepted)");
  EXPECT_EQ(refusal([&] { labels.label({.flip = true}); }),
            "this attack asked about records after 'flip' without declaring that it needs them");
  EXPECT_EQ(labels.shadows(), 0U);
  EXPECT_NE(refusal([&] { (void)labels.shadow(0); }).find("did not declare that it needs shadows"),
            std::string::npos);
  const Scene odds(target, {}, {.signal = Needs::Signal::phi}, Stream(0));
  EXPECT_NEAR(odds.phi()[0].item<double>(), std::log(9), 1e-12);
  EXPECT_EQ(refusal([&] { odds.log_p(); }),
            "this attack asked for all probabilities without declaring that it needs them");
  const Scene full(target, {&shadow, &shadow},
                   {.signal = Needs::Signal::logits, .shadows = Needs::Shadows::one}, Stream(0));
  EXPECT_EQ(full.shadows(), 1U);
  EXPECT_TRUE(full.shadow(0).member()[0].item<bool>());
  EXPECT_EQ(full.logits().size(1), 2);
}

TEST(Scene, HasNoLogitsWhereADefenseChangesTheOutput) {
  const Answered target({{}, confidences({0.9})}, zeros(1), {});
  const Scene scene(target, {}, {.signal = Needs::Signal::logits}, Stream(0));
  EXPECT_NE(refusal([&] { scene.logits(); }).find("it has no logits"), std::string::npos);
}

TEST(Scene, AShadowShowsNoCanariesToWhoLearnsFromIt) {
  class WithCanary final : public Observation {
   public:
    Tensor y(Piece) const override { return torch::tensor({0, 1, 0}); }
    Tensor member() const override { return torch::tensor({true, false, true}); }
    Tensor natural() const override { return torch::tensor({true, true, false}); }
    int64_t classes() const override { return 2; }
    int64_t block() const override { return 0; }
    Columns columns(Piece, const Transform&) const override {
      return {torch::tensor({0, 0, 1}), {}, {}};
    }
    Answers answers(Piece, const Transform&) const override {
      return {torch::eye(3).slice(1, 0, 2), {}};
    }
    Records records(Piece) const override { return torch::arange(3).view({3, 1}); }
    std::shared_ptr<Service> service() const override { return nullptr; }
  };
  const WithCanary model;
  const Needs needs{
      .signal = Needs::Signal::logits, .shadows = Needs::Shadows::one, .records = true};
  const Scene scene(model, {&model}, needs, Stream(0));
  EXPECT_EQ(scene.size(), 3);  // the target is scored on all of them
  const auto shadow = scene.shadow(0);
  EXPECT_TRUE(torch::equal(shadow.member(), torch::tensor({true, false})));
  EXPECT_TRUE(torch::equal(shadow.label(), torch::tensor({0, 0})));
  EXPECT_EQ(shadow.y().size(0), 2);
  EXPECT_EQ(shadow.logits().size(0), 2);
  EXPECT_EQ(shadow.records().size(), 2);
  const Scene pool(model, {&model},
                   {.signal = Needs::Signal::label, .shadows = Needs::Shadows::pool}, Stream(0));
  EXPECT_EQ(pool.shadow(0).member().size(0), 3);  // aligned with the target's candidates
}

// Whatever an attack asks, it asks the service: what defenses do to questions and answers is done.
TEST(Service, DoesToEveryQueryWhatItsDefensesDo) {
  class Recorder final : public Model {
   public:
    Tensor forward(const Tensor& x) override {
      asked.push_back(x.clone());
      return x.flatten(1).slice(1, 0, 3) * 10;
    }
    std::vector<Tensor> asked;
  };
  const auto model = std::make_shared<Recorder>();
  auto chain = chain_of("[{name: secret_shift}, {name: confidence_rounding, digits: 1}]");
  Split split{{torch::zeros({2, 1, 4, 4}), zeros(2), 3}, {}, {}, {}, {}};
  chain.data(split, {{}, {}}, Stream(0));
  Service service(model, chain, torch::kFloat, torch::kCPU);
  const auto x = torch::rand({5, 1, 4, 4}, Stream(0).generator(), torch::kFloat);
  const auto shifted = chain.query(x);
  const auto plain = service.ask(x);
  EXPECT_TRUE(torch::equal(model->asked.back(), shifted));
  EXPECT_FALSE(plain.logits.defined());  // the output is changed: there are no logits
  const auto p = plain.log_p.exp();
  EXPECT_TRUE(torch::allclose(p * 10, (p * 10).round(), 1e-6, 1e-6)) << p;
  const Transform flip{.flip = true};
  service.ask(x, flip);
  EXPECT_TRUE(torch::equal(model->asked.back(), chain.query(flip(x))));

  class Asked final : public Observation {
   public:
    explicit Asked(std::shared_ptr<Service> service) : service_(std::move(service)) {}
    Tensor y(Piece) const override { return zeros(5); }
    Tensor member() const override { return {}; }
    int64_t classes() const override { return 3; }
    int64_t block() const override { return 0; }
    Columns columns(Piece, const Transform&) const override { return {}; }
    Answers answers(Piece, const Transform&) const override { return {}; }
    Records records(Piece) const override { return {}; }
    std::shared_ptr<Service> service() const override { return service_; }

   private:
    std::shared_ptr<Service> service_;
  };
  const Asked target(std::make_shared<Service>(model, chain, torch::kFloat, torch::kCPU));
  const Scene scene(target, {}, {.access = Needs::Access::queries}, Stream(0));
  const auto labels = scene.ask_labels(x);
  EXPECT_TRUE(torch::equal(model->asked.back(), shifted));
  EXPECT_TRUE(torch::equal(labels, plain.log_p.argmax(1)));
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
      return {torch::full({scene.size()}, std::nan(""))};
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
  EXPECT_EQ(
      attack_of("loss")->needs().words(),
      "black box, probability of the true class; knows the true labels; one shadow model, for "
      "the threshold");
  EXPECT_EQ(attack_of("correctness")->needs().words(),
            "black box, labels only; knows the true labels; no shadow model");
}

}  // namespace
}  // namespace imprint::scene_test
