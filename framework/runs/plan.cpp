#include "framework/runs/plan.h"

#include <algorithm>
#include <array>

#include "framework/runs/addresses.h"
#include "framework/runs/release.h"
#include "framework/runs/training_jobs.h"

namespace imprint {
namespace {

class Planner {
 public:
  explicit Planner(const Experiment& experiment) : experiment_(experiment) {}

  Plan run() {
    for (const auto& cell : experiment_.cells) {
      const auto deal = dealer_.deal_for(cell);
      if (deal) plan_.cells.push_back(plan_cell(cell, deal));
    }
    problems_.raise();
    return std::move(plan_);
  }

 private:
  CellJobs plan_cell(const Cell& cell, const std::shared_ptr<const Deal>& deal) {
    CellJobs jobs;
    const auto target = trainings_.release_of(cell, cell.chain, deal, cell.target_model);
    jobs.train = target.train;
    jobs.signals = add_signals({"", target});
    int64_t wanted = 0;
    for (const auto& choice : cell.attacks)
      wanted = std::max(wanted, shadows_needed(choice, cell.shadows.count));
    const auto& chain = cell.shadows.defended ? cell.chain : std::vector<Value>{};
    const auto numbers = shadow_models(*deal, cell.target_model, wanted);
    std::vector<Release> shadows;
    for (const auto number : numbers)
      shadows.push_back(trainings_.release_of(cell, chain, deal, number));
    for (const auto& choice : cell.attacks) {
      check_records(choice, *deal);
      AttackJob job{
          "",
          observe(choice, target, cell.target_model),
          {},
          choice.attack,
          choice.per_class(),
          Stream(static_cast<uint64_t>(cell.seed))
              .at("attack/" + choice.attack.about->name, static_cast<uint64_t>(cell.target_model))};
      const auto given = static_cast<size_t>(shadows_needed(choice, cell.shadows.count));
      for (size_t i = 0; i < given; ++i)
        job.shadows.push_back(observe(choice, shadows[i], numbers[i]));
      jobs.attacks.push_back(add_attack(std::move(job), choice, cell));
    }
    for (const auto& spec : cell.measures) add_measure(spec, target, cell, jobs);
    return jobs;
  }

  // The numbers of a target's first shadows. In a pool a model's own block is left out: who is not
  // in one half of it is in the other.
  static std::vector<int64_t> shadow_models(const Deal& deal, int64_t target, int64_t count) {
    const bool pool = deal.partition.protocol == "pool";
    std::vector<int64_t> numbers;
    for (int64_t model = pool ? 0 : 1; static_cast<int64_t>(numbers.size()) < count; ++model)
      if (!pool || pool_block(model) != pool_block(target)) numbers.push_back(model);
    return numbers;
  }

  void check_records(const AttackChoice& choice, const Deal& deal) {
    const auto& shape = deal.data.x.shape();
    if (!choice.attack.component->needs().transforms.empty() && shape.size() != 3)
      problems_.add(choice.mark,
                    fmt::format("attack '{}' turns, moves or mirrors images, the records have {} "
                                "dimension{}",
                                choice.label, shape.size(), shape.size() == 1 ? "" : "s"));
  }

  // What an attack sees of a model, as jobs.
  Observed observe(const AttackChoice& choice, const Release& release, int64_t model) {
    const auto needs = choice.attack.component->needs();
    Observed seen{release, pool_block(model), {}};
    const auto add = [&](SignalsJob job) {
      const auto place = std::pair{job.piece, job.transform.name()};
      seen.signals[place] = add_signals(std::move(job));
    };
    add({"", release});
    for (const auto& transform : needs.transforms)
      add({"", release, Piece::candidates, transform, needs.signal > Needs::Signal::phi});
    if (needs.population) add({"", release, Piece::population});
    return seen;
  }

  std::string add_signals(SignalsJob job) {
    const auto& release = job.release;
    const auto chain = build_chain(release.chain, problems_);
    Recipe recipe("signals");
    add_privacy_code(recipe);
    recipe.add("train", release.train).add("epoch", std::to_string(release.epoch));
    add_chain(recipe, chain, true);
    std::string about;
    if (job.piece == Piece::population) about = " about the population";
    if (!job.transform.identity()) about = fmt::format(" ({})", job.transform.name());
    if (!about.empty()) recipe.add("asked", about).add("keeps", job.whole ? "all" : "columns");
    job.address = recipe.address();
    const auto [found, fresh] = plan_.signals.emplace(job.address, job);
    if (fresh)
      plan_.jobs.push_back({Job::Kind::signals,
                            job.address,
                            {release.train},
                            "query " + plan_.trainings.at(release.train).title + about,
                            recipe,
                            0});
    return found->first;
  }

  std::string add_attack(AttackJob job, const AttackChoice& choice, const Cell& cell) {
    Recipe recipe("attack");
    add_privacy_code(recipe);
    recipe.component("attack", *choice.attack.about, *choice.attack.reading, true);
    recipe.add("thresholds", choice.per_class() ? "per class" : "global");
    recipe.add("seed", std::to_string(cell.seed));
    std::vector<std::string> after;
    const bool live = choice.attack.component->needs().access != Needs::Access::answers;
    const auto add = [&](const std::string& role, const Observed& model) {
      for (const auto& [place, address] : model.signals) {
        recipe.add(place == std::pair{Piece::candidates, Transform{}.name()}
                       ? role
                       : fmt::format("{}, {}{}", role, place.second,
                                     place.first == Piece::population ? ", population" : ""),
                   address);
        after.push_back(address);
      }
      // Whoever asks the model itself needs its weights, which may be missing where its answers
      // are stored.
      if (live) after.push_back(model.release.train);
    };
    add("target", job.target);
    for (size_t i = 0; i < job.shadows.size(); ++i)
      add(fmt::format("shadow {:05}", i + 1), job.shadows[i]);
    job.address = recipe.address();
    const auto address = job.address;
    if (plan_.attacks.emplace(address, std::move(job)).second)
      plan_.jobs.push_back({Job::Kind::attack, address, after,
                            fmt::format("attack {} on {}", choice.label, cell.id), recipe, 0});
    return address;
  }

  void add_measure(const Value& spec, const Release& target, const Cell& cell, CellJobs& jobs) {
    const auto built = build(MeasureRegistry::instance(), "measure", spec, problems_, {});
    const auto recipe_of = [&](const char* when, const char* what, const std::string& address) {
      Recipe recipe("measure");
      add_privacy_code(recipe);
      recipe.component("measure", *built.about, *built.reading, true);
      return recipe.add("when", when).add(what, address);
    };
    if (built.about->has_hook("step") || built.about->has_hook("epoch")) {
      const auto address = recipe_of("while training", "train", target.train).address();
      auto& watched = plan_.trainings.at(target.train).measures;
      const auto same = [&](const auto& each) { return each.first == address; };
      if (std::none_of(watched.begin(), watched.end(), same)) watched.emplace_back(address, spec);
      jobs.watched.emplace_back(built.about->name, address);
    }
    if (!built.about->has_hook("trained")) return;
    const auto signals = add_signals({"", target});
    const auto recipe = recipe_of("trained", "released", signals);
    const auto address = recipe.address();
    jobs.measures.emplace_back(built.about->name, address);
    if (plan_.measures.emplace(address, MeasureJob{address, target, spec}).second)
      plan_.jobs.push_back({Job::Kind::measure,
                            address,
                            {target.train},
                            fmt::format("measure {} of {}", built.about->name, cell.id),
                            recipe,
                            0});
  }

  const Experiment& experiment_;
  Problems problems_;
  Plan plan_;
  Dealer dealer_{problems_};
  TrainingJobs trainings_{plan_, problems_};
};

}  // namespace

const char* Job::folder() const {
  constexpr std::array folders{"train", "signals", "attack", "measure"};
  return folders[static_cast<size_t>(kind)];
}

std::vector<std::pair<std::string, std::string>> Plan::made_by(const Job& job) const {
  std::vector<std::pair<std::string, std::string>> made{{job.folder(), job.address}};
  if (job.kind != Job::Kind::train) return made;
  const auto& training = trainings.at(job.address);
  auto wanted = training.snapshots;
  wanted.insert(training.schedule->epochs);
  for (const auto epoch : wanted)
    made.emplace_back("snapshot", snapshot_address(job.address, epoch));
  for (const auto& [address, spec] : training.measures) made.emplace_back("measure", address);
  return made;
}

bool Plan::stored(const Job& job, const Store& store) const {
  if (!store.has(job.folder(), job.address)) return false;
  const auto made = made_by(job);
  return std::all_of(made.begin(), made.end(),
                     [&](const auto& each) { return store.has(each.first, each.second); });
}

Plan make_plan(const Experiment& experiment) { return Planner(experiment).run(); }

}  // namespace imprint
