#include "framework/runs/plan.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "framework/config/digest.h"
#include "framework/runs/addresses.h"
#include "framework/runs/work.h"

namespace imprint {
namespace {

class Planner {
 public:
  explicit Planner(const Experiment& experiment) : experiment_(experiment) {}

  Plan run() {
    for (const auto& cell : experiment_.cells) {
      const auto deal = deal_for(cell);
      if (deal) plan_.cells.push_back(plan_cell(cell, deal));
    }
    problems_.raise();
    return std::move(plan_);
  }

 private:
  std::shared_ptr<const Deal> deal_for(const Cell& cell) {
    const auto& choice = cell.data;
    const auto source = choice.address();
    if (!loaded_.contains(source)) {
      try {
        loaded_[source] = choice.load();
      } catch (const ConfigError& error) {
        problems_.add({}, error.what());
        loaded_[source] = {};
      }
    }
    const auto& [data, digest] = loaded_.at(source);
    if (digest.empty()) return nullptr;  // the problem is known
    if (data.empty()) {
      problems_.add(choice.mark, "no records are left: see keep_classes and relabel");
      return nullptr;
    }
    if (cell.schedule->loss.one_output() && data.classes != 2)
      problems_.add(choice.mark,
                    fmt::format("this train.loss has one output and needs two classes, the data "
                                "have {}; choose two with keep_classes or relabel",
                                data.classes));
    const auto& protocol = *choice.protocol;
    check_images(choice, data);
    const auto key =
        fmt::format("{} {} {} {} {} {} {} {}", source, protocol.name, protocol.size, protocol.test,
                    protocol.population, protocol.tune, protocol.members, cell.seed);
    if (const auto found = deals_.find(key); found != deals_.end()) return found->second;
    const auto stream = Stream(static_cast<uint64_t>(cell.seed)).at("split");
    auto partition = deal(protocol, data.size(), stream, choice.split_mark, problems_);
    const auto split = partition.digest();
    const auto address = Sha256().field(digest).field(split).hex();
    return deals_[key] =
               std::make_shared<Deal>(Deal{data, std::move(partition), stream, split, address});
  }

  void check_images(const DataChoice& choice, const Dataset& data) {
    const auto& [normalise, centre, mean, deviation, augment] = choice.preparation;
    const auto& shape = data.x.shape();
    if (!augment.empty() && shape.size() != 3)
      problems_.add(choice.mark, fmt::format("augment needs images, the records have shape [{}]",
                                             fmt::join(shape, ", ")));
    if (normalise == "standard" && static_cast<int64_t>(mean.size()) != shape.front())
      problems_.add(choice.mark, fmt::format("the data set's constants are for {} channels, the "
                                             "records have shape [{}]; use normalise: members",
                                             mean.size(), fmt::join(shape, ", ")));
  }

  CellJobs plan_cell(const Cell& cell, const std::shared_ptr<const Deal>& deal) {
    CellJobs jobs;
    const auto target = release_of(cell, cell.chain, deal, 0);
    jobs.train = target.train;
    jobs.signals = add_signals(target);
    int64_t wanted = 0;
    for (const auto& choice : cell.attacks)
      wanted = std::max(wanted, shadows_needed(choice, cell.shadows.count));
    std::vector<std::string> shadows;
    for (int64_t i = 1; i <= wanted; ++i)
      shadows.push_back(add_signals(
          release_of(cell, cell.shadows.defended ? cell.chain : std::vector<Value>{}, deal, i)));
    for (const auto& choice : cell.attacks) {
      const auto given = shadows.begin() + shadows_needed(choice, cell.shadows.count);
      jobs.attacks.push_back(add_attack(choice, jobs.signals, {shadows.begin(), given}, cell));
    }
    for (const auto& spec : cell.measures) add_measure(spec, target, jobs);
    return jobs;
  }

  Release release_of(const Cell& cell, const std::vector<Value>& specs,
                     const std::shared_ptr<const Deal>& deal, int64_t index) {
    const auto chain = build_chain(specs, problems_);
    const auto address = add_training(cell, specs, deal, index, {});
    auto& training = plan_.trainings.at(address);
    const auto epoch = chain.release().value_or(cell.schedule->epochs);
    if (epoch < cell.schedule->epochs) training.snapshots.insert(epoch);
    return {address, epoch, specs};
  }

  std::string add_training(const Cell& cell, const std::vector<Value>& specs,
                           const std::shared_ptr<const Deal>& deal, int64_t index,
                           const Tensor& members) {
    const auto chain = build_chain(specs, problems_);
    const auto stream =
        Stream(static_cast<uint64_t>(cell.seed)).at("model", static_cast<uint64_t>(index));
    const auto count = members.defined() ? members.size(0) : train_size(*deal);
    std::vector<std::vector<std::string>> first;
    std::vector<std::string> after;
    for (const auto& link : chain.links()) {
      first.emplace_back();
      for (const auto& before : link.component->first(count, stream.at("first"))) {
        first.back().push_back(add_training(cell, before.defenses, deal, index, before.members));
        after.push_back(first.back().back());
      }
    }
    const auto schedule = schedule_for(chain, *cell.schedule);
    Sha256 digest;
    digest.field("train").field(training_code()).field(deal->address).field(std::to_string(index));
    digest.field(std::to_string(stream.seed()))
        .field(cell.schedule_address)
        .field(schedule->sampling)
        .field(cell.model_address);
    digest.field(chain_address(chain, false)).field(cell.device.str()).field(joined(after));
    digest.field(cell.data.preparation.text());
    const bool given = index == 0 && !cell.target.weights.empty() && !members.defined();
    if (given) {
      digest.field(cell.target.digest);
      if (chain.overrides("state") || chain.overrides("data") || chain.overrides("first"))
        problems_.add(cell.target.mark,
                      "target.weights cannot stand for a defense with state or data of its own");
    }
    if (members.defined()) digest.field(Dataset{members, members, 0}.digest());
    const auto address = digest.hex();
    if (plan_.trainings.contains(address)) return address;
    plan_.trainings.emplace(address, TrainJob{address,
                                              deal,
                                              index,
                                              schedule,
                                              cell.schedule_keys,
                                              cell.model_spec,
                                              specs,
                                              stream,
                                              cell.device,
                                              members,
                                              first,
                                              {},
                                              {},
                                              cell.data.preparation,
                                              given ? cell.target.weights : ""});
    if (given && problems_.empty()) try_weights(plan_.trainings.at(address), cell.target.mark);
    const auto what = index == 0 ? "target" : fmt::format("shadow {}", index);
    plan_.jobs.push_back({Job::Kind::train, address, after,
                          fmt::format("train {} of {}", what, cell.id),
                          static_cast<double>(count * cell.schedule->epochs)});
    return address;
  }

  void try_weights(const TrainJob& training, const Mark& mark) {
    try {
      check_weights(training);
    } catch (const ConfigError& error) {
      problems_.add(mark, error.what());
    }
  }

  // With the sampling that this chain needs, whoever else is in the cell.
  static std::shared_ptr<const Schedule> schedule_for(const Chain& chain, const Schedule& cell) {
    auto schedule = std::make_shared<Schedule>(cell);
    for (const auto& link : chain.links())
      if (const auto sampling = link.component->demands().sampling;
          sampling && cell.sampling == "auto")
        schedule->sampling = *sampling;
    if (schedule->sampling == "auto") schedule->sampling = "shuffle";
    return schedule;
  }

  static int64_t train_size(const Deal& deal) {
    const auto& partition = deal.partition;
    return partition.protocol == "pool" ? partition.pool.size(0) / 2
                                        : partition.target_train.size(0);
  }

  std::string add_signals(const Release& release) {
    const auto chain = build_chain(release.chain, problems_);
    const auto address = Sha256()
                             .field("signals")
                             .field(privacy_code())
                             .field(release.train)
                             .field(std::to_string(release.epoch))
                             .field(chain_address(chain, true))
                             .hex();
    if (plan_.signals.emplace(address, SignalsJob{address, release}).second)
      plan_.jobs.push_back({Job::Kind::signals, address, {release.train}, "query", 1});
    return address;
  }

  std::string add_attack(const AttackChoice& choice, const std::string& target,
                         const std::vector<std::string>& shadows, const Cell& cell) {
    Sha256 digest;
    digest.field("attack").field(privacy_code()).field(choice.attack.about->name);
    digest.field(choice.attack.about->digest()).field(choice.attack.reading->address(true));
    digest.field(choice.per_class ? "per_class" : "global").field(target).field(joined(shadows));
    const auto stream =
        Stream(static_cast<uint64_t>(cell.seed)).at("attack/" + choice.attack.about->name);
    digest.field(std::to_string(stream.seed()));
    const auto address = digest.hex();
    if (plan_.attacks
            .emplace(address,
                     AttackJob{address, target, shadows, choice.attack, choice.per_class, stream})
            .second) {
      auto after = shadows;
      after.push_back(target);
      plan_.jobs.push_back({Job::Kind::attack, address, after,
                            fmt::format("attack {} on {}", choice.label, cell.id), 1});
    }
    return address;
  }

  void add_measure(const Value& spec, const Release& target, CellJobs& jobs) {
    const auto built = build(MeasureRegistry::instance(), "measure", spec, problems_, {});
    const auto code = Sha256()
                          .field("measure")
                          .field(privacy_code())
                          .field(built.about->name)
                          .field(built.about->digest())
                          .field(built.reading->address(true))
                          .hex();
    if (built.about->has_hook("step") || built.about->has_hook("epoch")) {
      const auto address = Sha256().field(code).field("watch").field(target.train).hex();
      auto& watched = plan_.trainings.at(target.train).measures;
      const auto same = [&](const auto& each) { return each.first == address; };
      if (std::none_of(watched.begin(), watched.end(), same)) watched.emplace_back(address, spec);
      jobs.watched.emplace_back(built.about->name, address);
    }
    if (!built.about->has_hook("trained")) return;
    const auto signals = add_signals(target);
    const auto address = Sha256().field(code).field("trained").field(signals).hex();
    jobs.measures.emplace_back(built.about->name, address);
    if (plan_.measures.emplace(address, MeasureJob{address, target, spec}).second)
      plan_.jobs.push_back(
          {Job::Kind::measure, address, {target.train}, "measure " + built.about->name, 1});
  }

  const Experiment& experiment_;
  Problems problems_;
  Plan plan_;
  std::map<std::string, Loaded> loaded_;
  std::map<std::string, std::shared_ptr<const Deal>> deals_;
};

}  // namespace

const char* Job::folder() const {
  constexpr std::array folders{"train", "signals", "attack", "measure"};
  return folders[static_cast<size_t>(kind)];
}

bool Plan::stored(const Job& job, const Store& store) const {
  if (!store.has(job.folder(), job.address)) return false;
  if (job.kind != Job::Kind::train) return true;
  const auto& training = trainings.at(job.address);
  auto wanted = training.snapshots;
  wanted.insert(training.schedule->epochs);
  const bool snapshots = std::all_of(wanted.begin(), wanted.end(), [&](int64_t epoch) {
    return store.has("snapshot", snapshot_address(job.address, epoch));
  });
  return snapshots &&
         std::all_of(training.measures.begin(), training.measures.end(),
                     [&](const auto& each) { return store.has("measure", each.first); });
}

Plan make_plan(const Experiment& experiment) { return Planner(experiment).run(); }

}  // namespace imprint
