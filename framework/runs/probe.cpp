#include "framework/runs/probe.h"

#include <ATen/Parallel.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "framework/runs/interruption.h"
#include "framework/runs/machine.h"
#include "framework/runs/release.h"
#include "framework/runs/trial.h"

namespace imprint {
namespace {

constexpr double all_kinds = 10;  // seconds that many kinds share
// Each kind is tried twice, some time apart: the first time finds nothing warm, and what disturbs
// one time may be over by the other.
constexpr int rounds = 2;

// The least of each time, the most of each size.
void merge(TrainingCost& known, const TrainingCost& seen) {
  const bool first = known.step == 0;
  const auto less = [&](double& a, double b) { a = first ? b : std::min(a, b); };
  less(known.start, seen.start);
  less(known.query, seen.query);
  less(known.step, seen.step);
  // Not every try gets to the end of an epoch.
  if (seen.epoch > 0)
    known.epoch = known.epoch > 0 ? std::min(known.epoch, seen.epoch) : seen.epoch;
  known.memory = std::max(known.memory, seen.memory);
  known.weights = std::max(known.weights, seen.weights);
}

// One kind of training: an example of it, and in shared memory what a child found out about it.
struct Trial {
  const TrainJob* training;
  TrainingCost* cost;
};

// Memory that child processes share with this one.
template <class T>
class Shared {
 public:
  explicit Shared(size_t count) : bytes_(std::max<size_t>(count, 1) * sizeof(T)) {
    void* start =
        ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    TORCH_CHECK(start != MAP_FAILED, "no memory for a probe");
    first_ = new (start) T[count];
  }
  ~Shared() { ::munmap(first_, bytes_); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  T& operator[](size_t i) const { return first_[i]; }

 private:
  size_t bytes_;
  T* first_;
};

// Goes on until it is killed: beside an idle core the others would be faster than in the run.
[[noreturn]] void be_prober(const Plan& plan, std::vector<Trial> trials, double seconds,
                            double sharing, std::atomic<bool>& done) {
  at::set_num_threads(1);
  const auto before = peak_memory();
  for (int round = 1; !trials.empty(); ++round) {
    std::erase_if(trials, [&](const Trial& trial) {
      try {
        auto seen = try_training(plan, *trial.training, seconds);
        for (auto* each : {&seen.start, &seen.step, &seen.epoch, &seen.query}) *each *= sharing;
        seen.memory = peak_memory() - before;
        merge(*trial.cost, seen);
        return false;
      } catch (const std::exception&) {
        *trial.cost = {};
        return true;
      }
    });
    if (round == rounds) done = true;
  }
  ::_exit(0);
}

// Until all children have tried everything or ended, or this process is asked to leave.
void wait_for(std::map<pid_t, const std::atomic<bool>*> children) {
  const auto ready = [](const auto& child) { return child.second->load(); };
  while (!std::all_of(children.begin(), children.end(), ready) && asked_to_leave() == 0) {
    std::erase_if(children, [](const auto& child) {
      return ::waitpid(child.first, nullptr, WNOHANG) == child.first;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  for (const auto& [child, done] : children) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
}

}  // namespace

std::string cost_kind(const TrainJob& training) {
  const auto& schedule = *training.schedule;
  auto kind = fmt::format("{} {} {} {} {} {} {} {}", to_flow(training.model_spec), schedule.batch,
                          schedule.optimizer, c10::toString(schedule.type),
                          schedule.bfloat16 ? "bfloat16" : "", training.preparation.text(),
                          training.deal->records,
                          training.members.defined() ? training.members.size(0) : -1);
  const auto chain = fresh_chain(training.chain);
  for (const auto& link : chain.links()) {
    kind += " " + link.about->name;
    // Counts and words change what is done in a step; numbers, which are swept, only its results.
    for (const auto& key : link.reading->docs)
      for (const auto& read : link.reading->values)
        if (read.path == key.path && !key.late && !key.type.starts_with("number"))
          kind += fmt::format(" {}={}", key.path, to_flow(read.value));
  }
  return kind;
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
  const auto count = std::min(workers, kinds.size());
  const Shared<TrainingCost> found(kinds.size());
  const Shared<std::atomic<bool>> done(count);
  std::vector<std::vector<Trial>> trials(count);
  for (size_t number = 0; const auto& [kind, training] : kinds) {
    trials[number % count].push_back({training, &found[number]});
    ++number;
  }
  const auto each = std::min(seconds, all_kinds * static_cast<double>(count) /
                                          static_cast<double>(std::max<size_t>(kinds.size(), 1)));
  // More workers than cores take turns.
  const auto cores = std::max(std::thread::hardware_concurrency(), 1U);
  const auto sharing = std::max(static_cast<double>(workers) / cores, 1.0);
  std::fflush(nullptr);
  std::map<pid_t, const std::atomic<bool>*> children;
  const auto parent = ::getpid();
  for (size_t i = 0; i < count; ++i) {
    const auto child = ::fork();
    if (child > 0) children[child] = &done[i];
    if (child != 0) continue;
    end_with(parent);
    be_prober(plan, trials[i], each / rounds, sharing, done[i]);
  }
  wait_for(children);
  std::map<std::string, TrainingCost> costs;
  for (size_t number = 0; const auto& [kind, training] : kinds)
    if (const auto& cost = found[number++]; cost.step > 0) costs[kind] = cost;
  return costs;
}

}  // namespace imprint
