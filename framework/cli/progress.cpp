#include "framework/cli/progress.h"

#include <algorithm>

namespace imprint {
namespace {

std::string duration(double seconds) {
  const auto whole = static_cast<int64_t>(seconds + 0.5);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
  return fmt::format("{}:{:02} h", whole / 3600, whole % 3600 / 60);
}

}  // namespace

ProgressLine::ProgressLine(const Plan& plan, const Store& store, bool quiet) : quiet_(quiet) {
  for (const auto& job : plan.jobs) {
    if (plan.stored(job, store)) continue;
    jobs_[job.address] = &job;
    ++open_jobs_;
    work_ += job.work;
  }
  for (const auto& [address, training] : plan.trainings)
    epochs_[address] = training.schedule->epochs;
}

void ProgressLine::hear(const Progress& progress) {
  const auto found = jobs_.find(progress.address);
  if (found == jobs_.end()) return;
  const auto work = found->second->work;
  switch (progress.kind) {
    case Progress::Kind::started:
      open_[progress.address] = {work, 0};
      break;
    case Progress::Kind::epoch:
      open_[progress.address].second =
          static_cast<double>(progress.row.epoch) / static_cast<double>(epochs_[progress.address]);
      break;
    case Progress::Kind::failed:
      ++failed_;
      [[fallthrough]];
    case Progress::Kind::done:
      open_.erase(progress.address);
      finished_work_ += work;
      ++done_;
  }
}

std::string ProgressLine::line() const {
  double done = finished_work_;
  for (const auto& [address, part] : open_) done += part.first * part.second;
  const auto share = work_ > 0 ? done / work_ : 1;
  const auto seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  auto text =
      fmt::format("{:3.0f} %  {}/{} jobs  {}", 100 * share, done_, open_jobs_, duration(seconds));
  if (share > 0.01 && share < 1)
    text += fmt::format("  ETA {}", duration(seconds * (1 - share) / share));
  if (failed_ > 0) text += fmt::format("  {} failed", failed_);
  return text;
}

void ProgressLine::draw() {
  if (!quiet_ && open_jobs_ > 0 && line_.due()) line_.show(line());
}

void ProgressLine::finish() {
  if (quiet_ || open_jobs_ == 0) return;
  line_.show(line());
  line_.finish();
}

}  // namespace imprint
