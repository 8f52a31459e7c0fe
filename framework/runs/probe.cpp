#include "framework/runs/probe.h"

#include <ATen/Parallel.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "framework/runs/machine.h"
#include "framework/runs/release.h"

namespace imprint {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t fewest_steps = 4, most_steps = 300;
constexpr double longest = 8;  // seconds to wait for the end of an epoch in which a defense works

struct Enough {};

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Notes when each step ends, and ends the training when enough are known.
class StepClock {
 public:
  StepClock(double seconds, bool whole_epoch) : seconds_(seconds), whole_epoch_(whole_epoch) {}

  void end_epoch() { boundary_ = true; }

  bool end_step() {
    const auto now = Clock::now();
    const auto passed = std::chrono::duration<double>(now - last_).count();
    if (first_ < 0)
      first_ = passed;
    else
      (boundary_ ? boundaries_ : steps_).push_back(passed);
    boundary_ = false;
    last_ = now;
    const auto total = std::chrono::duration<double>(now - start_).count();
    const auto count = steps_.size() + boundaries_.size();
    const bool known = !whole_epoch_ || !boundaries_.empty() || total > longest;
    if (known && count >= fewest_steps && (total >= seconds_ || count >= most_steps))
      throw Enough{};
    return false;
  }

  void write(TrainingCost& cost) const {
    cost.step = median(steps_.empty() ? boundaries_ : steps_);
    cost.start = std::max(first_ - cost.step, 0.0);
    cost.epoch = whole_epoch_ ? std::max(median(boundaries_) - cost.step, 0.0) : 0;
  }

 private:
  double seconds_;
  bool whole_epoch_, boundary_ = false;
  Clock::time_point start_ = Clock::now(), last_ = start_;
  double first_ = -1;
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

double query_seconds(Model& model, const Chain& chain, const TrainJob& training,
                     const Records& records) {
  const auto count = std::min<int64_t>(records.size(), 512);
  const auto few = records.at(torch::arange(count));
  const auto& type = training.schedule->type;
  queried_logits(model, chain, few, type, training.device);
  const auto start = Clock::now();
  queried_logits(model, chain, few, type, training.device);
  return std::chrono::duration<double>(Clock::now() - start).count() /
         static_cast<double>(std::max<int64_t>(count, 1));
}

void try_training(const Plan& plan, const TrainJob& training, double seconds, TrainingCost& cost) {
  const auto seen = view_of(training);
  auto chain = fresh_chain(training.chain);
  auto schedule = *training.schedule;
  // Long enough that nothing is done for the last time, evaluation aside.
  schedule.epochs = std::max<int64_t>(schedule.epochs, 1'000'000);
  schedule.evaluate = {schedule.epochs, 0};
  schedule.record = {1, 0};
  std::shared_ptr<Model> model;
  const auto begin = Clock::now();
  auto first = untrained_first(plan, training, seen.split);
  const auto before = std::chrono::duration<double>(Clock::now() - begin).count();
  StepClock clock(seconds, chain.overrides("epoch"));
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
}

// A place for the answers of child processes.
struct Shared {
  explicit Shared(size_t count) : bytes(std::max<size_t>(count, 1) * sizeof(TrainingCost)) {
    void* start = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    TORCH_CHECK(start != MAP_FAILED, "no memory for a probe");
    costs = static_cast<TrainingCost*>(start);
  }
  ~Shared() { ::munmap(costs, bytes); }

  size_t bytes;
  TrainingCost* costs;
};

}  // namespace

std::string cost_kind(const TrainJob& training) {
  std::string chain;
  for (const auto& link : training.chain) {
    const auto* name = link.find("name");
    chain += (name == nullptr ? link.text : name->text) + "+";
  }
  return fmt::format("{} {} {} {} {}", to_flow(training.model_spec), training.schedule->batch,
                     chain, training.deal->records,
                     training.members.defined() ? training.members.size(0) : -1);
}

std::map<std::string, TrainingCost> probe(const Plan& plan, const Store* store, size_t workers,
                                          double seconds) {
  std::map<std::string, const TrainJob*> kinds;
  for (const auto& job : plan.jobs) {
    if (store != nullptr && plan.stored(job, *store)) continue;
    const std::string* train = &job.address;
    if (job.kind == Job::Kind::signals) train = &plan.signals.at(job.address).release.train;
    if (job.kind == Job::Kind::measure) train = &plan.measures.at(job.address).release.train;
    if (job.kind == Job::Kind::attack) continue;
    const auto& training = plan.trainings.at(*train);
    kinds.try_emplace(cost_kind(training), &training);
  }
  const Shared shared(kinds.size());
  std::fflush(nullptr);
  std::vector<pid_t> children;
  for (size_t i = 0; i < std::min(workers, kinds.size()); ++i) {
    const auto child = ::fork();
    if (child > 0) children.push_back(child);
    if (child != 0) continue;
    at::set_num_threads(1);
    const auto before = peak_memory();
    size_t number = 0;
    for (const auto& [kind, training] : kinds) {
      auto& cost = shared.costs[number];
      if (number++ % workers != i) continue;
      try {
        try_training(plan, *training, seconds, cost);
        cost.memory = peak_memory() - before;
      } catch (const std::exception&) {
        cost = {};
      }
    }
    ::_exit(0);
  }
  for (const auto child : children) ::waitpid(child, nullptr, 0);
  std::map<std::string, TrainingCost> costs;
  size_t number = 0;
  for (const auto& [kind, training] : kinds)
    if (const auto& cost = shared.costs[number++]; cost.step > 0) costs[kind] = cost;
  return costs;
}

}  // namespace imprint
