#include "framework/runs/forecast.h"

#include <algorithm>
#include <cmath>

#include "framework/runs/timetable.h"

namespace imprint {
namespace {

constexpr double job_overhead = 0.01;       // seconds to write an entry
constexpr double attack_per_record = 2e-6;  // seconds; corrected by the first that is done

int64_t candidates_of(const TrainJob& training) {
  const auto& partition = training.deal->partition;
  const auto natural = partition.protocol == "pool"
                           ? partition.pool.size(0)
                           : partition.target_train.size(0) + partition.target_test.size(0);
  return natural + partition.canaries.size(0) + partition.tune.size(0);
}

int64_t records_of(const SignalsJob& job, const TrainJob& training) {
  return job.piece == Piece::candidates ? candidates_of(training)
                                        : training.deal->partition.population.size(0);
}

int64_t members_of(const TrainJob& training) {
  if (training.members.defined()) return training.members.size(0);
  const auto& partition = training.deal->partition;
  const auto natural =
      partition.protocol == "pool" ? partition.pool.size(0) / 2 : partition.target_train.size(0);
  return natural + partition.canaries.size(0) / 2;
}

int64_t test_of(const TrainJob& training) {
  const auto& test = training.deal->partition.target_test;
  return test.defined() ? test.size(0) : 0;
}

int64_t evaluations_of(const Schedule& schedule) {
  int64_t count = 0;
  for (int64_t epoch = 1; epoch <= schedule.epochs; ++epoch)
    count += schedule.evaluate(epoch, schedule.epochs) ? 1 : 0;
  return count;
}

}  // namespace

Forecast::Forecast(const Plan& plan, const Store* store, size_t workers,
                   std::map<std::string, TrainingCost> costs)
    : plan_(plan), workers_(workers), costs_(std::move(costs)), order_(working_order(plan)) {
  for (const auto& job : plan.jobs) {
    if (store != nullptr && plan.stored(job, *store)) continue;
    const auto expected = expected_seconds(job);
    open_[job.address] = {&job, kind_of(job), expected};
    all_ += expected;
  }
}

const TrainingCost* Forecast::cost_of(const std::string& train) const {
  const auto found = costs_.find(cost_kind(plan_.trainings.at(train)));
  return found == costs_.end() ? nullptr : &found->second;
}

double Forecast::training_seconds(const TrainJob& training, const TrainingCost& cost) const {
  const auto& schedule = *training.schedule;
  const auto members = members_of(training);
  const auto batch = schedule.batch == 0 ? members : std::min(schedule.batch, members);
  const auto steps =
      std::ceil(static_cast<double>(members) / static_cast<double>(std::max<int64_t>(batch, 1)));
  const auto epochs = training.weights.empty() ? schedule.epochs : 0;
  const auto judged = evaluations_of(schedule) * (members + test_of(training));
  return cost.start + static_cast<double>(epochs) * (steps * cost.step + cost.epoch) +
         static_cast<double>(judged) * cost.query +
         static_cast<double>(training.snapshots.size() + 2) * job_overhead;
}

double Forecast::expected_seconds(const Job& job) const {
  if (job.kind == Job::Kind::attack) {
    const auto& attack = plan_.attacks.at(job.address);
    const auto& release = attack.target.release;
    return job_overhead + attack_per_record *
                              static_cast<double>(candidates_of(plan_.trainings.at(release.train)) *
                                                  static_cast<int64_t>(attack.shadows.size() + 1));
  }
  const auto& train = job.kind == Job::Kind::train ? job.address
                      : job.kind == Job::Kind::signals
                          ? plan_.signals.at(job.address).release.train
                          : plan_.measures.at(job.address).release.train;
  const auto* cost = cost_of(train);
  const auto& training = plan_.trainings.at(train);
  // What could not be tried will fail soon.
  if (cost == nullptr) return job_overhead;
  if (job.kind == Job::Kind::train) return training_seconds(training, *cost);
  const auto asked = job.kind == Job::Kind::signals
                         ? records_of(plan_.signals.at(job.address), training)
                         : candidates_of(training);
  return job_overhead + static_cast<double>(asked) * cost->query;
}

std::string Forecast::kind_of(const Job& job) const {
  if (job.kind == Job::Kind::train) return "train " + cost_kind(plan_.trainings.at(job.address));
  if (job.kind == Job::Kind::attack)
    return "attack " + plan_.attacks.at(job.address).attack.about->name;
  return job.folder();
}

// How much slower than expected, per kind. A little of a kind says less than much of it.
std::map<std::string, double> Forecast::factors() const {
  constexpr double trust = 0.5;  // seconds of the probe
  auto seen = seen_;
  for (const auto& [address, open] : open_) {
    if (open.share <= open.mark_share) continue;
    seen[open.kind].expected += open.expected * (open.share - open.mark_share);
    seen[open.kind].measured += open.last_time - open.mark_time;
  }
  std::map<std::string, double> factors;
  for (const auto& [kind, each] : seen)
    factors[kind] = (each.measured + trust) / (each.expected + trust);
  return factors;
}

void Forecast::hear(const Progress& progress) {
  const auto found = open_.find(progress.address);
  if (found == open_.end()) return;
  auto& open = found->second;
  if (progress.kind == Progress::Kind::started) {
    open.share = open.mark_share = 0;
    open.start_time = open.mark_time = progress.time;
  } else if (progress.kind == Progress::Kind::epoch) {
    const auto epochs = plan_.trainings.at(progress.address).schedule->epochs;
    open.share = static_cast<double>(progress.row.epoch) / static_cast<double>(epochs);
    open.last_time = progress.time;
    // What a checkpoint brings is told at once.
    if (progress.time - open.start_time < 0.2) {
      open.mark_time = progress.time;
      open.mark_share = open.share;
    }
  } else if (progress.kind == Progress::Kind::done || progress.kind == Progress::Kind::failed) {
    auto& seen = seen_[open.kind];
    if (progress.kind == Progress::Kind::done) {
      seen.expected += open.expected * (1 - open.mark_share);
      seen.measured += progress.seconds;
    }
    open_.erase(found);
  }
}

double Forecast::share_of(const std::string& address) const {
  const auto found = open_.find(address);
  return found == open_.end() ? 1 : found->second.share;
}

double Forecast::share() const {
  double left = 0;
  for (const auto& [address, open] : open_) left += open.expected * (1 - open.share);
  return all_ > 0 ? std::max(0.0, 1 - left / all_) : 1;
}

double Forecast::left() const {
  const auto slower = factors();
  const auto now = seconds_since_1970();
  return makespan(order_, workers_, [&](const Job& job) {
    const auto found = open_.find(job.address);
    if (found == open_.end()) return 0.0;
    const auto& open = found->second;
    const auto known = slower.find(open.kind);
    const auto all = open.expected * (known == slower.end() ? 1 : known->second);
    if (open.share > 0 || open.start_time == 0) return std::max(1e-9, all * (1 - open.share));
    // Under way and silent: what takes longer than expected takes some more.
    const auto passed = std::max(0.0, now - open.start_time);
    return std::max({1e-9, all - passed, passed / 4});
  });
}

uint64_t Forecast::worker_memory() const {
  uint64_t most = 0;
  for (const auto& [kind, cost] : costs_) most = std::max(most, cost.memory);
  return most;
}

uint64_t Forecast::disk() const {
  uint64_t bytes = 0;
  for (const auto& [address, open] : open_) {
    constexpr uint64_t small_files = 16384;
    bytes += small_files;
    if (open.job->kind == Job::Kind::attack) {
      const auto& target = plan_.attacks.at(address).target.release.train;
      bytes += 10 * static_cast<uint64_t>(candidates_of(plan_.trainings.at(target)));
    }
    if (open.job->kind == Job::Kind::signals) {
      const auto& asked = plan_.signals.at(address);
      const auto& training = plan_.trainings.at(asked.release.train);
      bytes += static_cast<uint64_t>(records_of(asked, training)) *
               static_cast<uint64_t>((asked.whole ? 4 * training.deal->data.classes : 0) + 41);
    }
    if (open.job->kind != Job::Kind::train) continue;
    if (const auto* cost = cost_of(address))
      bytes += cost->weights * (plan_.trainings.at(address).snapshots.size() + 1);
  }
  return bytes;
}

}  // namespace imprint
