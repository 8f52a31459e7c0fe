#include "framework/runs/work.h"

#include "framework/runs/checkpoint.h"
#include "framework/runs/history.h"
#include "framework/runs/interruption.h"
#include "framework/runs/machine.h"
#include "framework/runs/stored_observation.h"

namespace imprint {
namespace {

struct Watcher {
  std::string address;
  Built<Measure> measure;
  Log log;
};

// Measures whose results are stored already do not watch again.
std::vector<Watcher> watchers(const TrainJob& training, const Store& store) {
  std::vector<Watcher> all;
  for (const auto& [address, spec] : training.measures) {
    if (store.has("measure", address)) continue;
    Problems problems;
    all.push_back({address, build(MeasureRegistry::instance(), "measure", spec, problems, {}), {}});
    problems.raise();
  }
  return all;
}

// Of a measure that watched, a training's recipe says all there is.
void write_metrics(const Store& store, const std::string& address, const Log& log,
                   const std::optional<Recipe>& recipe) {
  Draft draft(store, "measure", address);
  if (recipe) draft.text("job.yaml", recipe->to_yaml());
  draft.text("metrics.json", to_json(log.metrics).dump());
  draft.commit();
}

// One training, from its beginning or its last checkpoint to its entries in the store.
class TrainingWork {
 public:
  TrainingWork(const Plan& plan, const TrainJob& training, const Store& store,
               const JobEvents& events)
      : plan_(plan),
        training_(training),
        store_(store),
        events_(events),
        seen_(view_of(training)),
        chain_(fresh_chain(training.chain)),
        watching_(watchers(training, store)),
        checkpoints_(store, training) {
    machines_.insert(cpu_kind());
  }

  void run(const Recipe& recipe) {
    auto plan = training_plan();
    if (training_.weights.empty()) go_on(plan);
    const auto model = train(plan);
    // A defense may have stopped before an epoch that is to be released: the last weights stand
    // for it.
    auto wanted = training_.snapshots;
    wanted.insert(training_.schedule->epochs);
    for (const auto epoch : wanted) write_snapshot(store_, training_, epoch, *model, chain_);
    for (const auto& watcher : watching_) write_metrics(store_, watcher.address, watcher.log, {});
    Draft draft(store_, "train", training_.address);
    draft.text("history.jsonl", history_text(rows_));
    draft.text("job.yaml", recipe.to_yaml());
    draft.text("machine.txt", joined({machines_.begin(), machines_.end()}, "; "));
    draft.commit();
    checkpoints_.remove();
  }

 private:
  TrainingPlan training_plan() {
    TrainingPlan plan{
        .split = seen_.split,
        .schedule = *training_.schedule,
        .chain = chain_,
        .first = load_first(plan_, training_, store_, seen_.split),
        .build =
            [this](const Shape& shape) {
              return build_model(training_, shape, seen_.split.train.x);
            },
        .augment = training_.preparation.augment,
        .load = {},
        .stream = training_.stream,
        .device = training_.device,
        .measures = {},
        .snapshots = training_.snapshots,
        .on_snapshot =
            [this](int64_t epoch, Model& model) {
              write_snapshot(store_, training_, epoch, model, chain_);
            },
        .on_epoch = [this](const EpochRow& row) { keep(row); },
        .checkpoint_due = [this] { return asked_to_leave() > 0 || checkpoints_.due(); },
        .on_checkpoint = [this](const Tensors& tensors) { save(tensors); }};
    if (!training_.weights.empty())
      plan.load = [this](Model& model) { load_given(model, training_.weights); };
    for (auto& watcher : watching_)
      plan.measures.push_back({watcher.measure.component.get(), &watcher.log});
    return plan;
  }

  void go_on(TrainingPlan& plan) {
    std::vector<std::string> addresses;
    for (const auto& watcher : watching_) addresses.push_back(watcher.address);
    auto found = checkpoints_.load(addresses, events_.note);
    if (!found) return;
    plan.checkpoint = std::move(found->tensors);
    machines_.merge(found->machines);
    for (auto& watcher : watching_) watcher.log = found->logs.at(watcher.address);
    for (const auto& row : found->rows) keep(row);
  }

  void keep(const EpochRow& row) {
    rows_.push_back(row);
    events_.epoch(row);
  }

  void save(const Tensors& tensors) {
    Checkpoint checkpoint{tensors, rows_, {}, machines_};
    for (const auto& watcher : watching_) checkpoint.logs[watcher.address] = watcher.log;
    checkpoints_.save(checkpoint);
    if (asked_to_leave() > 0) throw Interrupted{};
  }

  const Plan& plan_;
  const TrainJob& training_;
  const Store& store_;
  const JobEvents& events_;
  View seen_;
  Chain chain_;
  std::vector<Watcher> watching_;
  Checkpoints checkpoints_;
  std::vector<EpochRow> rows_;
  std::set<std::string> machines_;
};

// Without those whose answers are no numbers: their trainings diverged.
std::vector<const Observation*> usable_shadows(const std::vector<StoredObservation>& shadows) {
  std::vector<const Observation*> usable;
  for (const auto& shadow : shadows)
    if (!shadow.columns(Piece::candidates, {}).phi.isnan().any().item<bool>())
      usable.push_back(&shadow);
  return usable;
}

void do_attack(const Plan& plan, const AttackJob& job, const Store& store, const Recipe& recipe) {
  const StoredObservation target(plan, store, job.target);
  std::vector<StoredObservation> shadows;
  for (const auto& shadow : job.shadows) shadows.emplace_back(plan, store, shadow);
  const auto usable = usable_shadows(shadows);
  const Scene scene(target, usable, job.attack.component->needs(), job.stream);
  auto findings = run_attack(*job.attack.component, scene, job.per_class);
  if (usable.size() < shadows.size())
    findings.log.metric("shadows_left_out", static_cast<double>(shadows.size() - usable.size()));
  Draft draft(store, "attack", job.address);
  draft.text("job.yaml", recipe.to_yaml());
  draft.tensors({{"scores", findings.scores},
                 {"decisions", findings.decisions},
                 {"scored", findings.scored}});
  draft.text("metrics.json", to_json(findings.log.metrics).dump());
  draft.commit();
}

void do_measure(const Plan& plan, const MeasureJob& job, const Store& store, const Recipe& recipe) {
  const auto& training = plan.trainings.at(job.release.train);
  const auto seen = view_of(training);
  auto released = load_release(plan, job.release, store, seen.split);
  const auto& [model, type, device, members] = released.trained;
  Evaluation evaluation(*model, released.chain, seen.split, type, device);
  Problems problems;
  const auto measure = build(MeasureRegistry::instance(), "measure", job.spec, problems, {});
  problems.raise();
  Log log;
  measure.component->trained({released.trained, seen.split, evaluation}, log);
  write_metrics(store, job.address, log, recipe);
}

}  // namespace

void do_job(const Plan& plan, const Job& job, const Store& store, const JobEvents& events) {
  switch (job.kind) {
    case Job::Kind::train:
      return TrainingWork(plan, plan.trainings.at(job.address), store, events).run(job.recipe);
    case Job::Kind::signals:
      return do_signals(plan, plan.signals.at(job.address), store, job.recipe);
    case Job::Kind::attack:
      return do_attack(plan, plan.attacks.at(job.address), store, job.recipe);
    case Job::Kind::measure:
      return do_measure(plan, plan.measures.at(job.address), store, job.recipe);
  }
}

}  // namespace imprint
