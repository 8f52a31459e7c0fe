#include "framework/training/chain.h"

#include <algorithm>

namespace imprint {

bool Chain::overrides(const std::string& hook) const {
  return std::any_of(links_.begin(), links_.end(),
                     [&](const auto& link) { return link.about->has_hook(hook); });
}

void Chain::data(Split& split, const std::vector<std::vector<Trained>>& first,
                 const Stream& stream) {
  for (size_t i = 0; i < links_.size(); ++i)
    links_[i].component->data(split, first[i], stream.at("data", number(i)));
}

void Chain::shape(Shape& shape) {
  for (const auto& link : links_) link.component->shape(shape);
}

void Chain::start(const Step& step) {
  for (const auto& link : links_) link.component->start(step);
}

Batch Chain::batch(Batch batch, const Step& step) {
  for (const auto& link : links_) batch = link.component->batch(std::move(batch), step);
  return batch;
}

Tensor Chain::logits(Tensor logits, const Batch& batch, const Step& step) {
  for (const auto& link : links_) logits = link.component->logits(std::move(logits), batch, step);
  return logits;
}

Tensor Chain::loss(Tensor losses, const Tensor& logits, const Batch& batch, const Step& step) {
  for (const auto& link : links_) {
    losses = link.component->loss(std::move(losses), logits, batch, step);
    if (losses.dim() == 0) break;
  }
  return losses;
}

bool Chain::gradient(const Batch& batch, const Losses& losses, const Step& step) {
  return std::any_of(links_.begin(), links_.end(), [&](const auto& link) {
    return link.component->gradient(batch, losses, step);
  });
}

void Chain::epoch(const Step& step) {
  for (const auto& link : links_) link.component->epoch(step);
}

bool Chain::stop(const Epoch& epoch) {
  return std::any_of(links_.begin(), links_.end(),
                     [&](const auto& link) { return link.component->stop(epoch); });
}

std::optional<int64_t> Chain::release() const {
  std::optional<int64_t> released;
  for (const auto& link : links_) {
    const auto epoch = link.component->release();
    if (epoch && (!released || *epoch < *released)) released = epoch;
  }
  return released;
}

void Chain::trained(Model& model, const Split& split, const Stream& stream) {
  for (const auto& link : links_) link.component->trained(model, split, stream);
}

Tensor Chain::query(Tensor x) const {
  for (const auto& link : links_) x = link.component->query(std::move(x));
  return x;
}

Tensor Chain::output(Tensor log_p, const Tensor& seeds) const {
  for (const auto& link : links_) log_p = link.component->output(std::move(log_p), seeds);
  return log_p;
}

void Chain::state(State& state) {
  for (size_t i = 0; i < links_.size(); ++i) {
    state.prefix = std::to_string(number(i)) + ".";
    links_[i].component->state(state);
  }
  state.prefix.clear();
}

bool Chain::trains(const Built<Defense>& link) {
  const auto& hooks = training_hooks();
  return std::any_of(hooks.begin(), hooks.end(),
                     [&](const auto& hook) { return link.about->has_hook(hook); });
}

uint64_t Chain::number(size_t link) const {
  return static_cast<uint64_t>(
      std::count_if(links_.begin(), links_.begin() + static_cast<std::ptrdiff_t>(link), trains));
}

}  // namespace imprint
