#include "framework/runs/work.h"

#include "framework/data/formats/weights.h"
#include "framework/runs/addresses.h"
#include "framework/runs/history.h"
#include "framework/runs/machine.h"

namespace imprint {
namespace {

View view_of(const TrainJob& training) {
  auto seen =
      view(training.deal->data, training.deal->partition, training.index, training.deal->stream);
  if (training.members.defined()) seen.split.train = seen.split.train.at(training.members);
  return seen;
}

Chain fresh_chain(const std::vector<Value>& specs) {
  Problems problems;
  auto chain = build_chain(specs, problems);
  problems.raise();
  return chain;
}

std::shared_ptr<Model> build_model(const TrainJob& training, const Shape& shape,
                                   const Split& split) {
  Problems problems;
  auto built = build(ModelRegistry::instance(), "model", training.model_spec, problems, {}, shape);
  problems.raise();
  return prepared(built.component, training.preparation, split.train.x);
}

// Weights from a file by the names that the network gives them.
void load_into(Model& network, const std::string& file) {
  if (file == "as_built") return;
  set_weights(network, load_weights(file), file);
}

void write_snapshot(const Store& store, const TrainJob& training, int64_t epoch, Model& model,
                    Chain& chain) {
  const auto address = snapshot_address(training.address, epoch);
  if (store.has("snapshot", address)) return;
  State weights(State::Direction::save);
  weights.module("model", model);
  State rest(State::Direction::save);
  chain.state(rest);
  Draft draft(store, "snapshot", address);
  draft.tensors(weights.tensors, "weights");
  draft.tensors(rest.tensors, "defenses");
  draft.commit();
}

// The model as it is released: weights of the released epoch, defenses with their state.
struct Released {
  Chain chain;
  Trained trained;
};

Released load_release(const Plan& plan, const Release& release, const Store& store,
                      const Split& split) {
  const auto& training = plan.trainings.at(release.train);
  Released released{fresh_chain(release.chain), {}};
  const auto address = snapshot_address(release.train, release.epoch);
  const auto model =
      build_model(training, model_shape(split, training.schedule->loss, released.chain), split);
  place(*model, training.schedule->type, training.device);
  State weights(State::Direction::load);
  weights.tensors = store.tensors("snapshot", address, "weights");
  weights.module("model", *model);
  State rest(State::Direction::load);
  rest.tensors = store.tensors("snapshot", address, "defenses");
  released.chain.state(rest);
  released.trained = {model, training.schedule->type, training.device, split.train};
  released.chain.trained(*model, split, training.stream.at("trained"));
  return released;
}

std::vector<std::vector<Trained>> load_first(const Plan& plan, const TrainJob& training,
                                             const Store& store, const Split& split) {
  std::vector<std::vector<Trained>> first;
  for (const auto& link : training.first) {
    first.emplace_back();
    for (const auto& address : link) {
      const auto& before = plan.trainings.at(address);
      const Release release{address, before.schedule->epochs, before.chain};
      first.back().push_back(load_release(plan, release, store, split).trained);
    }
  }
  return first;
}

std::string history_text(const std::vector<EpochRow>& rows) {
  std::string text;
  for (const auto& row : rows) text += to_json(row).dump() + "\n";
  return text;
}

// What the address was made from, for people.
std::string job_yaml(const TrainJob& training) {
  auto map = Value::map();
  map.set("model", training.model_spec);
  map.set("train", training.schedule_keys);
  map.set("defenses", Value::list(training.chain));
  map.set("index", Value::scalar(std::to_string(training.index)));
  map.set("data", Value::scalar(training.deal->address));
  map.set("split", Value::scalar(training.deal->split));
  return to_yaml(map);
}

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

void write_metrics(const Store& store, const std::string& address, const Log& log) {
  Draft draft(store, "measure", address);
  draft.text("metrics.json", to_json(log.metrics).dump());
  draft.commit();
}

void do_training(const Plan& plan, const TrainJob& training, const Store& store,
                 const std::function<void(const EpochRow&)>& on_epoch) {
  const auto seen = view_of(training);
  auto chain = fresh_chain(training.chain);
  auto watching = watchers(training, store);
  std::vector<EpochRow> rows;
  TrainingPlan training_plan{
      .split = seen.split,
      .schedule = *training.schedule,
      .chain = chain,
      .first = load_first(plan, training, store, seen.split),
      .build = [&](const Shape& shape) { return build_model(training, shape, seen.split); },
      .augment = training.preparation.augment,
      .load = {},
      .stream = training.stream,
      .device = training.device,
      .measures = {},
      .snapshots = training.snapshots,
      .on_snapshot = [&](int64_t epoch,
                         Model& model) { write_snapshot(store, training, epoch, model, chain); },
      .on_epoch =
          [&](const EpochRow& row) {
            rows.push_back(row);
            on_epoch(row);
          }};
  if (!training.weights.empty())
    training_plan.load = [&](Model& model) { load_into(network_of(model), training.weights); };
  for (auto& watcher : watching)
    training_plan.measures.push_back({watcher.measure.component.get(), &watcher.log});
  const auto model = train(training_plan);
  // A defense may have stopped before an epoch that is to be released: the last weights stand for
  // it.
  auto wanted = training.snapshots;
  wanted.insert(training.schedule->epochs);
  for (const auto epoch : wanted) write_snapshot(store, training, epoch, *model, chain);
  for (const auto& watcher : watching) write_metrics(store, watcher.address, watcher.log);
  Draft draft(store, "train", training.address);
  draft.text("history.jsonl", history_text(rows));
  draft.text("job.yaml", job_yaml(training));
  draft.text("machine.txt", cpu_kind());
  draft.commit();
}

// Per test record, whether the released model classifies it correctly.
Tensor test_correct(Released& released, const View& seen, const Answers& answers) {
  if (!seen.test_is_non_members) {
    const auto& [model, type, device, members] = released.trained;
    const auto test = ask(*model, released.chain, seen.split.test.x, type, device);
    return test.log_p.argmax(1).eq(seen.split.test.y);
  }
  return answers.log_p.argmax(1).eq(seen.candidates.y).masked_select(seen.member.logical_not());
}

void do_signals(const Plan& plan, const SignalsJob& job, const Store& store) {
  const auto& training = plan.trainings.at(job.release.train);
  const auto seen = view_of(training);
  auto released = load_release(plan, job.release, store, seen.split);
  const auto& [model, type, device, members] = released.trained;
  const auto answers = ask(*model, released.chain, seen.candidates.x, type, device);
  std::map<std::string, Tensor> tensors{{"y", seen.candidates.y},
                                        {"member", seen.member},
                                        {"record", seen.record},
                                        {"test_correct", test_correct(released, seen, answers)}};
  if (answers.logits.defined())
    tensors["logits"] = answers.logits;
  else
    tensors["log_p"] = answers.log_p;
  Draft draft(store, "signals", job.address);
  draft.tensors(tensors);
  draft.commit();
}

Observation observed(const Store& store, const std::string& address) {
  auto tensors = store.tensors("signals", address);
  return {answers_from(tensors["logits"], tensors["log_p"]), tensors.at("y"), tensors.at("member")};
}

void do_attack(const AttackJob& job, const Store& store) {
  const auto target = observed(store, job.target);
  std::vector<Observation> shadows;
  for (const auto& address : job.shadows) shadows.push_back(observed(store, address));
  std::vector<const Observation*> pointers;
  for (const auto& shadow : shadows) pointers.push_back(&shadow);
  const Scene scene(target, pointers, job.attack.component->needs(), job.stream);
  const auto findings = run_attack(*job.attack.component, scene, job.per_class);
  std::map<std::string, Tensor> tensors{{"scores", findings.scores}};
  if (findings.decisions.defined()) tensors["decisions"] = findings.decisions;
  Draft draft(store, "attack", job.address);
  draft.tensors(tensors);
  draft.text("metrics.json", to_json(findings.log.metrics).dump());
  draft.commit();
}

void do_measure(const Plan& plan, const MeasureJob& job, const Store& store) {
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
  write_metrics(store, job.address, log);
}

}  // namespace

std::shared_ptr<Model> released_model(const Plan& plan, const Release& release,
                                      const Store& store) {
  const auto seen = view_of(plan.trainings.at(release.train));
  return load_release(plan, release, store, seen.split).trained.model;
}

void check_weights(const TrainJob& training) {
  const auto seen = view_of(training);
  auto chain = fresh_chain(training.chain);
  const auto shape = model_shape(seen.split, training.schedule->loss, chain);
  const auto model = build_model(training, shape, seen.split);
  load_into(network_of(*model), training.weights);
}

void do_job(const Plan& plan, const Job& job, const Store& store,
            const std::function<void(const EpochRow&)>& on_epoch) {
  switch (job.kind) {
    case Job::Kind::train:
      return do_training(plan, plan.trainings.at(job.address), store, on_epoch);
    case Job::Kind::signals:
      return do_signals(plan, plan.signals.at(job.address), store);
    case Job::Kind::attack:
      return do_attack(plan.attacks.at(job.address), store);
    case Job::Kind::measure:
      return do_measure(plan, plan.measures.at(job.address), store);
  }
}

}  // namespace imprint
