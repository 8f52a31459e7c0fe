// Our networks against the same in plain PyTorch, with the same weights: reference.py.
#include "framework/data/formats/safetensors.h"
#include "tests/support/fixtures.h"
#include "tests/support/networks.h"
#include "tests/support/process.h"

namespace imprint::reference_test {
namespace {

struct Pair {
  std::string reference, yaml;
  Shape shape;
};

const std::vector<Pair> pairs{
    {"resnet20", "resnet", {{3, 32, 32}, 10, 0}},
    {"resnet18", "{name: resnet, depth: 18}", {{3, 32, 32}, 10, 0}},
    {"densenet121", "densenet", {{3, 32, 32}, 10, 0}},
    {"densenet40", "{name: densenet, depth: 40}", {{3, 16, 16}, 10, 0}},
    {"vgg11", "vgg", {{3, 32, 32}, 10, 0}},
    {"wide_resnet28_2", "wide_resnet", {{3, 16, 16}, 10, 0}},
    {"mlp", "{name: mlp, hidden: [1024, 512, 256, 128], activation: tanh}", {{600}, 100, 0}},
};

// Fresh norms do nothing that a forgotten one would not do.
void unsettle(Model& model) {
  const torch::NoGradGuard no_grad;
  for (auto& [name, tensor] : named_tensors(model)) {
    if (name.ends_with("running_mean") || tensor.dim() == 1)
      tensor.add_(torch::rand_like(tensor), 0.3);
  }
}

void save_answers(const Pair& pair, const std::filesystem::path& file) {
  const auto model = double_model(pair.yaml, pair.shape);
  unsettle(*model);
  const auto x = random_records(4, pair.shape.input);
  std::map<std::string, Tensor> tensors{{"x", x}};
  for (const auto& [name, tensor] : named_tensors(*model))
    tensors["model." + name] = tensor.clone();
  const torch::NoGradGuard no_grad;
  model->eval();
  tensors["eval"] = model->forward(x);
  model->train();
  tensors["train"] = model->forward(x);
  for (const auto& each : model->named_buffers()) tensors["after." + each.key()] = each.value();
  save_tensors(file, tensors);
}

TEST(Networks, AnswerAsPlainPyTorchDoes) {
  IMPRINT_NEEDS_PYTHON();
  const TempFolder folder;
  std::vector<std::string> argv{python().value(), IMPRINT_SOURCE "/tests/models/reference.py"};
  std::string expected;
  for (const auto& pair : pairs) {
    const auto file = folder.path() / pair.reference;
    save_answers(pair, file);
    argv.push_back(pair.reference + "=" + file.string());
    expected += pair.reference + " same\n";
  }
  const auto output = run_process(argv);
  EXPECT_EQ(output.out, expected) << output.err;
}

}  // namespace
}  // namespace imprint::reference_test
