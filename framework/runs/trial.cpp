#include "framework/runs/trial.h"

#include <algorithm>
#include <chrono>
#include <ctime>

#include "framework/runs/release.h"

namespace imprint {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t fewest_steps = 3, most_steps = 300;
constexpr double longest = 4;  // seconds to wait for the end of an epoch in which a defense works

struct Enough {};

// Whatever disturbs a step only ever slows it down; the very fastest may be chance.
double lower_quartile(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 4);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

// Seconds that this process has worked, whatever else the machine does just now. A GPU works beside
// it: then as they pass.
double worked_seconds(const torch::Device& device) {
  timespec time{};
  ::clock_gettime(device.is_cpu() ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Notes when each step ends, and ends the training when enough are known.
class StepClock {
 public:
  StepClock(double seconds, bool whole_epoch, const torch::Device& device)
      : seconds_(seconds), whole_epoch_(whole_epoch), device_(device) {}

  void end_epoch() { boundary_ = true; }

  bool end_step() {
    const auto now = worked_seconds(device_);
    const auto passed = now - last_;
    if (first_ < 0)
      first_ = passed;
    else
      (boundary_ ? boundaries_ : steps_).push_back(passed);
    boundary_ = false;
    last_ = now;
    const auto total = std::chrono::duration<double>(Clock::now() - start_).count();
    const auto count = steps_.size() + boundaries_.size();
    const bool known = !whole_epoch_ || !boundaries_.empty() || total > longest;
    if (known && count >= fewest_steps && (total >= seconds_ || count >= most_steps))
      throw Enough{};
    return false;
  }

  void write(TrainingCost& cost) const {
    cost.step = lower_quartile(steps_.empty() ? boundaries_ : steps_);
    cost.start = std::max(first_ - cost.step, 0.0);
    cost.epoch = whole_epoch_ ? std::max(lower_quartile(boundaries_) - cost.step, 0.0) : 0;
  }

 private:
  double seconds_;
  bool whole_epoch_, boundary_ = false;
  torch::Device device_;
  Clock::time_point start_ = Clock::now();
  double last_ = worked_seconds(device_), first_ = -1;
  std::vector<double> steps_, boundaries_;
};

// The trainings before this one are not there yet: models as they are built stand for them.
std::vector<std::vector<Trained>> untrained_first(const Plan& plan, const TrainJob& training,
                                                  const Split& split) {
  std::vector<std::vector<Trained>> first;
  for (const auto& link : training.first) {
    first.emplace_back();
    for (const auto& address : link) {
      const auto& before = plan.trainings.at(address);
      auto chain = fresh_chain(before.chain);
      auto model =
          build_model(before, model_shape(split, before.schedule->loss, chain), split.train.x);
      place(*model, before.schedule->type, before.device);
      first.back().push_back({model, before.schedule->type, before.device, split.train});
    }
  }
  return first;
}

// Seconds of one record's answer, the best of some.
double query_seconds(Model& model, const Chain& chain, const TrainJob& training,
                     const Records& records) {
  const auto ask = [&](int64_t count) {
    const auto few = records.at(torch::arange(std::min(records.size(), count)));
    const auto start = worked_seconds(training.device);
    queried_logits(model, chain, few, training.schedule->type, training.device);
    return (worked_seconds(training.device) - start) /
           static_cast<double>(std::max<int64_t>(few.size(), 1));
  };
  ask(32);
  // As many at once as some hundredths of a second allow.
  const auto count = static_cast<int64_t>(std::clamp(0.04 / std::max(ask(32), 1e-9), 32.0, 512.0));
  ask(count);
  double best = ask(count);
  for (int i = 0; i < 2; ++i) best = std::min(best, ask(count));
  return best;
}

}  // namespace

TrainingCost try_training(const Plan& plan, const TrainJob& training, double seconds) {
  TrainingCost cost;
  const auto seen = view_of(training);
  auto chain = fresh_chain(training.chain);
  auto schedule = *training.schedule;
  // Long enough that nothing is done for the last time, evaluation aside.
  schedule.epochs = std::max<int64_t>(schedule.epochs, 1'000'000);
  schedule.evaluate = {schedule.epochs, 0};
  schedule.record = {1, 0};
  std::shared_ptr<Model> model;
  const auto begin = worked_seconds(training.device);
  auto first = untrained_first(plan, training, seen.split);
  const auto before = worked_seconds(training.device) - begin;
  StepClock clock(seconds, chain.overrides("epoch"), training.device);
  TrainingPlan few{.split = seen.split,
                   .schedule = schedule,
                   .chain = chain,
                   .first = std::move(first),
                   .build =
                       [&](const Shape& shape) {
                         return model = build_model(training, shape, seen.split.train.x);
                       },
                   .augment = training.preparation.augment,
                   .load = {},
                   .stream = training.stream,
                   .device = training.device,
                   .measures = {},
                   .snapshots = {},
                   .on_snapshot = {},
                   .on_epoch = [&](const EpochRow&) { clock.end_epoch(); },
                   .checkpoint_due = [&] { return clock.end_step(); }};
  try {
    train(few);
  } catch (const Enough&) {
  }
  clock.write(cost);
  cost.start += before;
  cost.query = query_seconds(*model, chain, training, seen.candidates.x);
  for (const auto& p : model->parameters()) cost.weights += p.nbytes();
  for (const auto& b : model->buffers()) cost.weights += b.nbytes();
  return cost;
}

}  // namespace imprint
