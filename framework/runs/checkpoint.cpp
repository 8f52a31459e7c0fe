#include "framework/runs/checkpoint.h"

#include <algorithm>
#include <cstdlib>

#include "framework/runs/addresses.h"
#include "framework/runs/history.h"

namespace imprint {
namespace {

constexpr auto kind = "checkpoint";

// Seconds between two checkpoints; tests ask for more of them.
double interval() {
  const char* asked = std::getenv("IMPRINT_CHECKPOINT_SECONDS");
  return asked == nullptr ? 30 : std::atof(asked);
}

// The newest first.
std::vector<std::string> checkpoints_of(const Store& store, const std::string& training) {
  auto all = store.entries(kind);
  std::erase_if(all, [&](const auto& name) { return !name.starts_with(training + "-"); });
  std::reverse(all.begin(), all.end());
  return all;
}

int64_t steps_of(const Tensors& tensors) { return tensors.at("place")[2].item<int64_t>(); }

}  // namespace

Checkpoints::Checkpoints(const Store& store, const TrainJob& training)
    : store_(store), training_(training), interval_(interval()) {}

std::vector<std::string> Checkpoints::entries() const {
  return checkpoints_of(store_, training_.address);
}

Checkpoint Checkpoints::read(const std::string& address) const {
  Checkpoint found;
  found.tensors = store_.tensors(kind, address);
  found.rows = history_from(store_.text(kind, address, "history.jsonl"));
  const auto about = store_.json(kind, address, "about.json");
  for (const auto& [measure, metrics] : about.at("measures").items())
    found.logs[measure].metrics = metrics_from(metrics);
  for (const std::string machine : about.at("machines")) found.machines.insert(machine);
  return found;
}

// A measure that was not watching has missed what went before; so has a snapshot of an epoch that
// nobody wanted then.
bool Checkpoints::serves(const Checkpoint& checkpoint,
                         const std::vector<std::string>& watching) const {
  const auto epoch = checkpoint.tensors.at("place")[0].item<int64_t>();
  const bool measured = std::all_of(watching.begin(), watching.end(), [&](const auto& each) {
    return checkpoint.logs.contains(each);
  });
  return measured && checkpoint.logs.size() == watching.size() &&
         std::all_of(training_.snapshots.begin(), training_.snapshots.end(), [&](int64_t wanted) {
           return wanted > epoch ||
                  store_.has("snapshot", snapshot_address(training_.address, wanted));
         });
}

std::optional<Checkpoint> Checkpoints::load(
    const std::vector<std::string>& watching,
    const std::function<void(const std::string&)>& damaged) const {
  for (const auto& address : entries()) {
    try {
      auto found = read(address);
      if (serves(found, watching)) return found;
    } catch (const DamagedEntry& error) {
      store_.set_aside(kind, address);
      damaged(error.what());
    }
  }
  return std::nullopt;
}

bool Checkpoints::due() const { return std::chrono::steady_clock::now() - last_ >= interval_; }

void Checkpoints::save(const Checkpoint& checkpoint) {
  const auto older = entries();
  auto measures = nlohmann::json::object();
  for (const auto& [address, log] : checkpoint.logs) measures[address] = to_json(log.metrics);
  const auto address = fmt::format("{}-{:012}", training_.address, steps_of(checkpoint.tensors));
  Draft draft(store_, kind, address);
  draft.tensors(checkpoint.tensors);
  draft.text("history.jsonl", history_text(checkpoint.rows));
  draft.text("about.json",
             nlohmann::json{{"measures", measures}, {"machines", checkpoint.machines}}.dump());
  draft.commit();
  for (const auto& each : older)
    if (each != address) store_.remove(kind, each);
  last_ = std::chrono::steady_clock::now();
}

void Checkpoints::remove() const {
  for (const auto& each : entries()) store_.remove(kind, each);
}

std::string newest_checkpoint(const Store& store, const std::string& training) {
  const auto all = checkpoints_of(store, training);
  return all.empty() ? "" : all.front();
}

void remove_finished_checkpoints(const Plan& plan, const Store& store) {
  const auto left = store.entries(kind);
  if (left.empty()) return;
  for (const auto& job : plan.jobs) {
    if (job.kind != Job::Kind::train || !plan.stored(job, store)) continue;
    // Somebody else may be repeating it, for a measure of theirs.
    if (const auto lease = store.lease(job.address))
      Checkpoints(store, plan.trainings.at(job.address)).remove();
  }
}

}  // namespace imprint
