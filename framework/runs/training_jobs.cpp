#include "framework/runs/training_jobs.h"

#include "framework/runs/addresses.h"
#include "framework/runs/release.h"

namespace imprint {
namespace {

// With the sampling that this chain needs, whoever else is in the cell.
std::shared_ptr<const Schedule> schedule_for(const Chain& chain, const Schedule& cell) {
  auto schedule = std::make_shared<Schedule>(cell);
  for (const auto& link : chain.links())
    if (const auto sampling = link.component->demands().sampling;
        sampling && cell.sampling == "auto")
      schedule->sampling = *sampling;
  if (schedule->sampling == "auto") schedule->sampling = "shuffle";
  return schedule;
}

int64_t train_size(const Deal& deal, int64_t index) {
  return view(deal.data, deal.partition, index, deal.stream).split.train.size();
}

}  // namespace

Release TrainingJobs::release_of(const Cell& cell, const std::vector<Value>& specs,
                                 const std::shared_ptr<const Deal>& deal, int64_t index) {
  const auto chain = build_chain(specs, problems_);
  const auto address = add_training(cell, specs, deal, index, {});
  auto& training = plan_.trainings.at(address);
  const auto epoch = chain.release().value_or(cell.schedule->epochs);
  if (epoch < cell.schedule->epochs) training.snapshots.insert(epoch);
  return {address, epoch, specs};
}

std::string TrainingJobs::add_training(const Cell& cell, const std::vector<Value>& specs,
                                       const std::shared_ptr<const Deal>& deal, int64_t index,
                                       const Tensor& members) {
  const auto chain = build_chain(specs, problems_);
  const auto stream =
      Stream(static_cast<uint64_t>(cell.seed)).at("model", static_cast<uint64_t>(index));
  const auto count = members.defined() ? members.size(0) : train_size(*deal, index);
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
  Recipe recipe("train");
  add_training_code(recipe);
  recipe.add("data", deal->records).add("split", deal->split);
  recipe.add("seed", std::to_string(cell.seed)).add("model number", std::to_string(index));
  recipe.add("model", cell.model).add("model source", cell.model_source);
  recipe.keys("model.", cell.model_address).keys("train.", cell.schedule_address);
  recipe.add("train.sampling", schedule->sampling).add("device", cell.device.str());
  recipe.add("preparation", cell.data.preparation.text());
  add_chain(recipe, chain, false);
  if (!after.empty()) recipe.add("trained before", joined(after));
  const bool given = index == 0 && !cell.target.weights.empty() && !members.defined();
  if (given) {
    recipe.add("weights", cell.target.digest);
    if (chain.overrides("state") || chain.overrides("data") || chain.overrides("first"))
      problems_.add(cell.target.mark,
                    "target.weights cannot stand for a defense with state or data of its own");
  }
  if (members.defined()) recipe.add("members", Dataset{members, members, 0}.digest());
  const auto address = recipe.address();
  if (plan_.trainings.contains(address)) return address;
  const auto title = fmt::format(
      "{} of {}", index == cell.target_model ? "target" : fmt::format("shadow {}", index), cell.id);
  plan_.trainings.emplace(address, TrainJob{address,
                                            title,
                                            deal,
                                            index,
                                            schedule,
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
  plan_.jobs.push_back({Job::Kind::train, address, after, "train " + title, recipe,
                        static_cast<double>(count * cell.schedule->epochs)});
  return address;
}

void TrainingJobs::try_weights(const TrainJob& training, const Mark& mark) {
  try {
    check_weights(training);
  } catch (const ConfigError& error) {
    problems_.add(mark, error.what());
  }
}

}  // namespace imprint
