#include <torch/csrc/jit/api/module.h>

#include <fstream>

#include "framework/training/state.h"
#include "tests/support/fixtures.h"
#include "tests/support/networks.h"
#include "tests/support/process.h"

namespace imprint::torchscript_test {
namespace {

// Writes a network of 6 features: inner.weight [3, 6], a buffer `shift` that training counts up.
std::string script(const std::filesystem::path& file, const std::string& answer = "y",
                   bool trainable = true) {
  torch::jit::Module inner("inner"), net("net");
  inner.register_parameter(
      "weight", (torch::arange(18, torch::kFloat).view({3, 6}) / 18).requires_grad_(trainable),
      false);
  inner.define("def forward(self, x):\n  return x.matmul(self.weight.t())\n");
  net.register_module("inner", inner);
  net.register_buffer("shift", torch::zeros({3}));
  net.register_attribute("training", c10::BoolType::get(), true);
  net.define(
      "def forward(self, x):\n  if self.training:\n    self.shift.add_(1)\n"
      "  y = self.inner.forward(x) + self.shift\n  return " +
      answer + "\n");
  net.save(file.string());
  return "{name: torchscript, path: " + file.string() + "}";
}

const Shape shape{{6}, 3, 0};

TEST(TorchScript, AnswersAsTheScript) {
  const TempFolder folder;
  const auto model = model_of(script(folder.path() / "net.pt"), shape);
  const auto tensors = named_tensors(*model);
  EXPECT_EQ(tensors.size(), 2U);
  const auto x = torch::rand({4, 6});
  const auto linear = x.mm(tensors.at("inner/weight").t());
  model->eval();
  EXPECT_TRUE(torch::allclose(model->forward(x), linear));
  model->train();
  EXPECT_TRUE(torch::allclose(model->forward(x), linear + 1));
  EXPECT_TRUE(torch::equal(tensors.at("shift"), torch::ones({3})));
}

TEST(TorchScript, SeesItsTensorsMovedAndLoaded) {
  const TempFolder folder;
  const auto yaml = script(folder.path() / "net.pt");
  const auto model = double_model(yaml, shape);
  model->eval();
  const auto x = random_records(2, {6});
  const auto before = model->forward(x);
  EXPECT_EQ(before.scalar_type(), torch::kDouble);
  State saved(State::Direction::save);
  saved.module("model", *model);
  const torch::NoGradGuard no_grad;
  for (auto& p : model->parameters()) p.zero_();
  EXPECT_EQ(model->forward(x).abs().max().item<double>(), 0);
  State loaded(State::Direction::load);
  loaded.tensors = saved.tensors;
  loaded.module("model", *model);
  EXPECT_TRUE(torch::equal(model->forward(x), before));
}

TEST(TorchScript, LearnsFromTheWeightsInTheFile) {
  const TempFolder folder;
  const auto yaml = script(folder.path() / "net.pt");
  expect_model_learns(yaml);
  const auto trained = train_small("none", small_split(), "{precision: float64}", yaml).model;
  EXPECT_FALSE(same_weights(*trained, *double_model(yaml, shape)));
}

TEST(TorchScript, RefusesPerRecordGradients) {
  const TempFolder folder;
  const auto yaml = script(folder.path() / "net.pt");
  EXPECT_THROW(train_small("dpsgd", small_split(), "{}", yaml), c10::Error);
}

TEST(TorchScript, RefusesAnswersOfAnotherShape) {
  const TempFolder folder;
  const auto file = (folder.path() / "net.pt").string();
  const auto message = [&](const std::string& answer, int64_t outputs) -> std::string {
    try {
      model_of(script(file, answer), {{6}, outputs, 0})->forward(torch::rand({2, 6}));
      return "accepted";
    } catch (const c10::Error& error) {
      return error.what_without_backtrace();
    }
  };
  EXPECT_EQ(message("y", 4),
            file + ": the model answers records [2, 6] with [2, 3], expected [2, 4]");
  EXPECT_EQ(message("y.sum()", 3),
            file + ": the model answers records [2, 6] with [], expected [2, 3]");
  EXPECT_EQ(message("(y, y)", 3), file + ": the model answers with Tuple, expected one tensor");
}

TEST(TorchScript, RefusesFilesThatAreNone) {
  const TempFolder folder;
  const auto file = folder.path() / "net.pt";
  const auto name = file.string();
  expect_model_error("{name: torchscript, path: " + name + "}", shape,
                     name + ": there is no such file");
  const auto yaml = script(file);
  expect_model_error("torchscript", shape,
                     "model 'torchscript' needs the key 'path' (file that torch.jit.save wrote)");
  const auto bytes = file_text(file);
  for (const size_t kept : {bytes.size() / 2, size_t{0}}) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes.substr(0, kept);
    try {
      model_of(yaml, shape);
      ADD_FAILURE() << "a truncated file was accepted";
    } catch (const ConfigError& error) {
      EXPECT_NE(std::string(error.what()).find(name + ": is no TorchScript file ("),
                std::string::npos)
          << error.what();
    }
  }
}

TEST(TorchScript, RefusesAFrozenModel) {
  const TempFolder folder;
  const auto file = (folder.path() / "net.pt").string();
  expect_model_error(script(file, "y", false), shape,
                     file + ": the model has no parameters to train; was it frozen?");
}

TEST(TorchScript, RefusesDropout) {
  const TempFolder folder;
  EXPECT_THROW(model_of(script(folder.path() / "net.pt"), {{6}, 3, 0.5}), c10::Error);
}

TEST(TorchScript, IsAddressedByTheContentsOfItsFile) {
  const TempFolder folder;
  const auto address = [&](const std::string& answer) {
    Problems problems;
    const auto spec = parse_yaml(script(folder.path() / "net.pt", answer), "");
    return build(ModelRegistry::instance(), "model", spec, problems, {}, shape)
        .reading->address(true);
  };
  EXPECT_EQ(address("y"), address("y"));
  EXPECT_NE(address("y"), address("y + 0"));
}

TEST(TorchScript, FindsAPathRelativeToTheFileThatNamesIt) {
  const TempFolder folder;
  script(folder.path() / "net.pt");
  Problems problems;
  const auto spec =
      parse_yaml("{name: torchscript, path: net.pt}", (folder.path() / "e.yaml").string());
  const auto built = build(ModelRegistry::instance(), "model", spec, problems, {}, shape);
  problems.raise();
  EXPECT_EQ(built.reading->resolved().find("path")->text, (folder.path() / "net.pt").string());
}

}  // namespace
}  // namespace imprint::torchscript_test
