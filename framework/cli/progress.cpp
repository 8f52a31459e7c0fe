#include "framework/cli/progress.h"

namespace imprint {

std::string duration(double seconds) {
  const auto whole = static_cast<int64_t>(seconds + 0.5);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
  return fmt::format("{}:{:02} h", whole / 3600, whole % 3600 / 60);
}

std::string announcement(const Ready& ready, const Remaining& open, const std::string& how) {
  const auto jobs = ready.plan.jobs.size();
  return fmt::format("{}: {} cells, {} jobs ({} trainings), {} stored; {}", ready.experiment.name,
                     ready.experiment.cells.size(), jobs, ready.plan.trainings.size(),
                     jobs - open.jobs,
                     open.jobs == 0 ? std::string("nothing to do: everything comes from the store")
                     : open.trainings == 0
                         ? fmt::format("{} to do, no training among them{}", open.jobs, how)
                         : fmt::format("{} to do, {} trainings{}", open.jobs, open.trainings, how));
}

ProgressPanel::ProgressPanel(const Plan& plan, Forecast& forecast, bool quiet)
    : plan_(plan), forecast_(forecast), quiet_(quiet) {
  for (const auto& job : plan.jobs) {
    jobs_[job.address] = &job;
    if (forecast.is_open(job.address)) ++open_;
  }
}

void ProgressPanel::hear(const Progress& progress) {
  if (progress.kind == Progress::Kind::note) {
    if (quiet_) return;
    if (shown_.on_terminal()) shown_.finish();
    fmt::print(stderr, "imprint: {}\n", progress.message);
    return;
  }
  // One that is repeated because its result was damaged was none of those to be done.
  const bool counts = forecast_.is_open(progress.address);
  forecast_.hear(progress);
  if (!jobs_.contains(progress.address)) return;
  auto& at = at_[progress.worker];
  at = progress.address;
  switch (progress.kind) {
    case Progress::Kind::started:
      epochs_.erase(progress.address);
      break;
    case Progress::Kind::epoch:
      epochs_[progress.address] = progress.row.epoch;
      break;
    case Progress::Kind::failed:
      failed_ += counts ? 1 : 0;
      [[fallthrough]];
    case Progress::Kind::done:
      done_ += counts ? 1 : 0;
      [[fallthrough]];
    default:
      at.clear();
  }
}

std::string ProgressPanel::worker_line(size_t worker, const std::string& address) const {
  if (address.empty()) return fmt::format("  {:>3}  -", worker + 1);
  auto line = fmt::format("  {:>3}  {}", worker + 1, jobs_.at(address)->title);
  const auto training = plan_.trainings.find(address);
  if (training == plan_.trainings.end()) return line;
  const auto reached = epochs_.find(address);
  return line + fmt::format("  epoch {}/{}", reached == epochs_.end() ? 0 : reached->second,
                            training->second.schedule->epochs);
}

std::string ProgressPanel::whole_line() {
  const auto seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  const auto share = forecast_.share();
  auto text =
      fmt::format("{:3.0f} %  {}/{} jobs  {}", 100 * share, done_, open_, duration(seconds));
  // Simulating thousands of jobs takes a while.
  if (Clock::now() - computed_ > std::chrono::seconds(1)) {
    left_ = forecast_.left();
    computed_ = Clock::now();
  }
  if (done_ < open_) text += fmt::format("  ETA {}", duration(left_));
  if (failed_ > 0) text += fmt::format("  {} failed", failed_);
  return text;
}

std::vector<std::string> ProgressPanel::lines() {
  std::vector<std::string> all;
  constexpr size_t most = 16;
  for (const auto& [worker, address] : at_)
    if (all.size() < most) all.push_back(worker_line(worker, address));
  if (at_.size() > most) all.push_back(fmt::format("       and {} more", at_.size() - most));
  all.push_back(whole_line());
  return all;
}

void ProgressPanel::draw() {
  if (!quiet_ && open_ > 0 && shown_.due()) shown_.show(lines());
}

void ProgressPanel::finish() {
  if (quiet_ || open_ == 0) return;
  for (auto& [worker, address] : at_) address.clear();
  shown_.show({whole_line()});
  shown_.finish();
}

}  // namespace imprint
