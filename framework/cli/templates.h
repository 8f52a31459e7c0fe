#pragma once

namespace imprint::templates {

// What `imprint new` writes. {name} is the registered name, {Type} the class; every pair compiles and
// passes as it is.

constexpr auto attack = R"(#include "framework/privacy/attack.h"

namespace imprint::{name} {
namespace {

/// Scores a record by (say what, and cite the paper and equation).
///
/// Keys: power (1).
class {Type} final : public Attack {
 public:
  explicit {Type}(Keys keys)
      : power_(keys.number("power", 1).above(0).doc("exponent of the loss")) {}

  Needs needs() const override { return {}; }

  Findings run(const Scene& scene) override {
    const auto losses = -true_log_p(scene.log_p(), scene.y());
    return {-losses.pow(power_), {}, {}};
  }

 private:
  double power_;
};

IMPRINT_ATTACK({Type}, "{name}", "one sentence: what it is", "authors, venue, equation");

}  // namespace
}  // namespace imprint::{name}
)";

constexpr auto attack_test = R"(#include "tests/support/fixtures.h"

namespace imprint::{name}_test {
namespace {

TEST({Type}, RanksLowLossesHigh) {  // p_y = 0.9, 0.5, 0.1: losses 0.105, 0.693, 2.303
  const auto scores = attack_scores("{name: {name}}", confidences({0.9, 0.5, 0.1}), zeros(3));
  EXPECT_NEAR(scores[0].item<double>(), -0.105361, 1e-6);
  EXPECT_NEAR(scores[1].item<double>(), -0.693147, 1e-6);
  EXPECT_NEAR(scores[2].item<double>(), -2.302585, 1e-6);
}

TEST({Type}, RefusesAPowerOfZero) {
  expect_config_error("attack", "{name: {name}, power: 0}", "power must be above 0, not 0");
}

}  // namespace
}  // namespace imprint::{name}_test
)";

constexpr auto attack_config = R"(# configs/attacks/{name}.yaml: seconds on a laptop; also the smoke test of the attack
base: ../base/tiny.yaml
attacks: [loss, {name}]
)";

constexpr auto defense = R"(#include "framework/training/defense.h"

namespace imprint::{name} {
namespace {

/// Changes the loss by (say what, and cite the paper and equation).
///
/// Keys: scale (1).
class {Type} final : public Defense {
 public:
  explicit {Type}(Keys keys)
      : scale_(keys.number("scale", 1).above(0).doc("factor of the loss; 1 is plain training")) {}

  Tensor loss(Tensor losses, const Tensor&, const Batch&, const Step&) override {
    return scale_ * losses;
  }

 private:
  double scale_;
};

IMPRINT_DEFENSE({Type}, "{name}", "one sentence: what it does", "authors, venue, equation");

}  // namespace
}  // namespace imprint::{name}
)";

constexpr auto defense_test = R"(#include "tests/support/fixtures.h"

namespace imprint::{name}_test {
namespace {

TEST({Type}, EqualsPlainTrainingWhenScaleIsOne) {
  expect_same_training("{name: {name}, scale: 1}", "{name: none}");
}

TEST({Type}, MatchesHandValues) {  // p_y = 0.5, scale = 2: 2 log 2 = 1.386294
  EXPECT_NEAR(loss_of("{name: {name}, scale: 2}", 0.5), 1.386294, 1e-6);
}

TEST({Type}, RefusesAScaleOfZero) {
  expect_config_error("defense", "{name: {name}, scale: 0}", "scale must be above 0, not 0");
}

}  // namespace
}  // namespace imprint::{name}_test
)";

constexpr auto defense_config = R"(# configs/defenses/{name}.yaml: seconds on a laptop; also the smoke test of the defense
base: ../base/tiny.yaml
defenses: [{name: none}, {name: {name}, scale: !sweep [0.5, 2]}]
)";

constexpr auto model = R"(#include "framework/training/model.h"

namespace imprint::{name} {
namespace {

/// A network of (say what, and cite the paper).
///
/// Keys: hidden (64).
class {Type} final : public Model {
 public:
  {Type}(Keys keys, const Shape& shape) {
    const int64_t hidden = keys.integer("hidden", 64).at_least(1).doc("width of the hidden layer");
    first_ = register_module("first", std::make_shared<Linear>(shape.features(), hidden));
    last_ = register_module("last", std::make_shared<Linear>(hidden, shape.outputs));
    dropout_ = register_module("dropout", std::make_shared<Dropout>(shape.dropout));
  }

  Tensor forward(const Tensor& x) override {
    return last_->forward(dropout_->forward(first_->forward(x.flatten(1)).relu()));
  }

 private:
  std::shared_ptr<Linear> first_, last_;
  std::shared_ptr<Dropout> dropout_;
};

IMPRINT_MODEL({Type}, "{name}", "one sentence: what it is", "authors, venue");

}  // namespace
}  // namespace imprint::{name}
)";

constexpr auto model_test = R"(#include "tests/support/fixtures.h"

namespace imprint::{name}_test {
namespace {

TEST({Type}, HasTheParametersOfItsLayers) {  // 10 x 64 + 64 + 64 x 3 + 3
  const auto model = model_of("{name: {name}}", {{10}, 3, 0});
  EXPECT_EQ(parameter_count(*model), 10 * 64 + 64 + 64 * 3 + 3);
  EXPECT_EQ(model->forward(torch::zeros({5, 10})).sizes(), torch::IntArrayRef({5, 3}));
}

TEST({Type}, Learns) { expect_model_learns("{name: {name}}"); }

}  // namespace
}  // namespace imprint::{name}_test
)";

constexpr auto model_config = R"(# configs/models/{name}.yaml: seconds on a laptop; also the smoke test of the model
base: ../base/tiny.yaml
model: {name: {name}, hidden: 32}
)";

constexpr auto dataset = R"(#include "framework/data/dataset.h"
#include "framework/data/stream.h"

namespace imprint::{name} {
namespace {

/// Records of (say what, and where they come from).
///
/// Keys: records (400).
class {Type} final : public Source {
 public:
  explicit {Type}(Keys keys)
      : records_(keys.integer("records", 400).at_least(4).doc("number of records")) {}

  Dataset load() const override {
    const auto stream = Stream(0).at("{name}");
    const auto y = torch::randint(0, 2, {records_}, stream.at("y").generator(), torch::kLong);
    const auto x = torch::randn({records_, 8}, stream.at("x").generator(), torch::kFloat);
    return {x + y.unsqueeze(1), y, 2};
  }

 private:
  int64_t records_;
};

IMPRINT_DATASET({Type}, "{name}", "one sentence: what it holds", "where it comes from");

}  // namespace
}  // namespace imprint::{name}
)";

constexpr auto dataset_test = R"(#include "tests/support/fixtures.h"

namespace imprint::{name}_test {
namespace {

TEST({Type}, HoldsTheRecordsItWasAskedFor) {
  const auto data = dataset_of("{name: {name}, records: 30}");
  EXPECT_EQ(data.size(), 30);
  EXPECT_EQ(data.x.sizes(), torch::IntArrayRef({30, 8}));
  EXPECT_EQ(data.classes, 2);
}

TEST({Type}, IsTheSameEveryTime) {
  EXPECT_EQ(dataset_of("{name: {name}}").digest(), dataset_of("{name: {name}}").digest());
}

}  // namespace
}  // namespace imprint::{name}_test
)";

constexpr auto dataset_config = R"(# configs/datasets/{name}.yaml: seconds on a laptop; also the smoke test of the data set
base: ../base/tiny.yaml
data: {name: {name}, split: {size: 50}}
)";

constexpr auto measure = R"(#include "framework/training/measure.h"

namespace imprint::{name} {
namespace {

/// Logs (say what, and cite the paper and equation). No keys.
class {Type} final : public Measure {
 public:
  explicit {Type}(Keys) {}

  void trained(const Finished& finished, Log& log) override {
    const auto& split = finished.split;
    log.metric("train_accuracy", accuracy(finished.evaluation.train_logits(), split.train.y),
               split.train.size());
  }
};

IMPRINT_MEASURE({Type}, "{name}", "one sentence: what it logs", "authors, venue, equation");

}  // namespace
}  // namespace imprint::{name}
)";

constexpr auto measure_test = R"(#include "tests/support/fixtures.h"

namespace imprint::{name}_test {
namespace {

TEST({Type}, LogsTheTrainAccuracyOfAPerfectModel) {
  const auto metrics = measured("{name: {name}}", confidences({0.9, 0.8}), zeros(2));
  EXPECT_EQ(metrics.at("train_accuracy"), 1);
}

}  // namespace
}  // namespace imprint::{name}_test
)";

constexpr auto measure_config = R"(# configs/measures/{name}.yaml: seconds on a laptop; also the smoke test of the measure
base: ../base/tiny.yaml
measures: [{name}]
)";

}  // namespace imprint::templates
