#include "framework/training/state.h"

#include <torch/serialize.h>

#include <sstream>

namespace imprint {

void State::tensor(const std::string& name, Tensor& value) {
  if (direction_ == Direction::save) {
    tensors[prefix + name] = value.detach().clone();
    return;
  }
  const auto found = tensors.find(prefix + name);
  TORCH_CHECK(found != tensors.end(), "the saved state has no '", name, "'");
  const torch::NoGradGuard no_grad;
  if (value.defined() && value.sizes() == found->second.sizes())
    value.copy_(found->second);
  else
    value = found->second.clone();
}

void State::module(const std::string& name, torch::nn::Module& module) {
  for (auto& parameter : module.named_parameters())
    tensor(name + "." + parameter.key(), parameter.value());
  for (auto& buffer : module.named_buffers()) tensor(name + "." + buffer.key(), buffer.value());
}

void State::optimizer(const std::string& name, torch::optim::Optimizer& optimizer) {
  // LibTorch serialises optimizers to a stream only; its bytes travel as a tensor.
  if (direction_ == Direction::save) {
    std::ostringstream stream;
    torch::serialize::OutputArchive archive;
    optimizer.save(archive);
    archive.save_to(stream);
    const auto bytes = stream.str();
    auto copy = torch::empty({static_cast<int64_t>(bytes.size())}, torch::kUInt8);
    std::copy(bytes.begin(), bytes.end(), copy.mutable_data_ptr<uint8_t>());
    tensors[prefix + name] = copy;
    return;
  }
  const auto& saved = tensors.at(prefix + name);
  const auto* bytes = reinterpret_cast<const char*>(saved.const_data_ptr<uint8_t>());
  torch::serialize::InputArchive archive;
  archive.load_from(bytes, static_cast<size_t>(saved.numel()));
  optimizer.load(archive);
}

}  // namespace imprint
