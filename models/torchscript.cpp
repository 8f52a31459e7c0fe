#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "framework/training/model.h"

namespace imprint::torchscript {
namespace {

/// A network from a TorchScript file (torch.jit.script or trace, then save). Training goes on from
/// the weights in the file, the same for every model of an experiment. It keeps no tape, so that
/// DP-SGD is refused. Files run the code they hold: load none you do not trust.
///
/// Keys: path. The contents of the file count in addresses, not its name.
class TorchScript final : public Model {
 public:
  TorchScript(Keys keys, const Shape& shape)
      : outputs_(shape.outputs),
        path_(keys.path("path").digested().doc("file that torch.jit.save wrote")) {
    if (path_.empty()) return;
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path_, ignored))
      load(keys);
    else
      keys.problem("path", fmt::format("{}: there is no such file", path_));
    TORCH_CHECK(shape.dropout == 0,
                "a TorchScript model is closed: dropout cannot be put before its last layer");
  }

  Tensor forward(const Tensor& x) override {
    const auto answer = module_.forward({x});
    TORCH_CHECK(answer.isTensor(), path_, ": the model answers with ", answer.tagKind(),
                ", expected one tensor");
    const auto logits = answer.toTensor();
    TORCH_CHECK(logits.dim() == 2 && logits.size(0) == x.size(0) && logits.size(1) == outputs_,
                path_, ": the model answers records ", x.sizes(), " with ", logits.sizes(),
                ", expected ", torch::IntArrayRef({x.size(0), outputs_}));
    return logits;
  }

  void train(bool on) override {
    Model::train(on);
    module_.train(on);
  }

 private:
  void load(Keys& keys) {
    try {
      module_ = torch::jit::load(path_, torch::Device("cpu"));
    } catch (const std::exception& error) {
      // The first sentence says it; advice and a stack trace follow.
      const std::string text = error.what();
      keys.problem("path", fmt::format("{}: is no TorchScript file ({})", path_,
                                       text.substr(0, std::min(text.find('\n'), text.find(". ")))));
      return;
    }
    for (const auto& each : module_.named_parameters()) adopt(each.name, each.value, true);
    for (const auto& each : module_.named_buffers()) adopt(each.name, each.value, false);
    const auto all = parameters();
    if (std::none_of(all.begin(), all.end(), [](const auto& p) { return p.requires_grad(); }))
      keys.problem("path",
                   fmt::format("{}: the model has no parameters to train; was it frozen?", path_));
    train(true);
  }

  // The very tensor of the script, under a name that modules allow; a shared one once.
  void adopt(std::string name, Tensor tensor, bool parameter) {
    if (!seen_.insert(tensor.unsafeGetTensorImpl()).second) return;
    std::replace(name.begin(), name.end(), '.', '/');
    tensor.set_data(tensor.contiguous());
    if (parameter)
      register_parameter(name, tensor, tensor.requires_grad());
    else
      register_buffer(name, tensor);
  }

  int64_t outputs_;
  std::string path_;
  torch::jit::Module module_;
  std::set<const void*> seen_;
};

IMPRINT_MODEL(TorchScript, "torchscript", "a network from a TorchScript file", "any");

}  // namespace
}  // namespace imprint::torchscript
