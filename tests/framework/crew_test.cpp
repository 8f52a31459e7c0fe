// Workers of this machine, without a program round them.
#include "framework/runs/crew.h"

#include <set>

#include "framework/runs/forecast.h"
#include "tests/support/fixtures.h"
#include "tests/support/process.h"

namespace imprint::crew_test {
namespace {

namespace fs = std::filesystem;

constexpr auto some_seconds = R"(
data: {name: gaussian, records: 800, features: 60, split: {size: 200}}
model: {name: mlp, hidden: [192, 96]}
train: {epochs: 500, batch: 16, evaluate: {every: 100}}
defenses: [none, {name: dropout}]
attacks: [loss]
)";

TEST(Crew, SendsWorkersHomeWhenMemoryRunsShortAndStillDoesEverything) {
  const TempFolder folder;
  const auto experiment = read_experiment(parse_yaml(some_seconds, ""), "crew");
  const auto plan = make_plan(experiment);
  const Store store(folder.path() / "store");
  const auto progress = folder.path() / "progress";
  fs::create_directories(progress / "failed");
  // Memory runs short as soon as worker 3 is in the midst of a training.
  uint64_t free = 2000;
  const auto crew = start_local_crew(plan, store, progress, {3, 1000, [&] { return free; }, 0});
  std::vector<std::string> notes;
  size_t left = 0;
  const auto outcome = follow(*crew, progress,
                              {[&](const Progress& heard) {
                                 left += heard.kind == Progress::Kind::left ? 1 : 0;
                                 if (heard.kind == Progress::Kind::epoch && heard.worker == 2)
                                   free = 0;
                                 if (heard.kind == Progress::Kind::note)
                                   notes.push_back(heard.message);
                               },
                               [] {}},
                              5);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("of memory are left: worker 3 saves its work and leaves"),
            std::string::npos)
      << notes[0];
  EXPECT_EQ(left, 1U);
  EXPECT_TRUE(outcome.failed.empty());
  for (const auto& job : plan.jobs) EXPECT_TRUE(plan.stored(job, store)) << job.title;
}

TEST(Probe, MeasuresEachKindOfTrainingOnce) {
  const auto experiment = read_experiment(parse_yaml(some_seconds, ""), "crew");
  const auto costs = probe(make_plan(experiment), nullptr, 2, 0.05);
  EXPECT_EQ(costs.size(), 2U);  // undefended and with dropout
  for (const auto& [kind, cost] : costs) {
    EXPECT_GT(cost.step, 0) << kind;
    EXPECT_GT(cost.query, 0) << kind;
    // 60 x 192 + 192 + 192 x 96 + 96 + 96 x 2 + 2 numbers
    EXPECT_EQ(cost.weights, 4U * (60 * 192 + 192 + 192 * 96 + 96 + 96 * 2 + 2));
  }
}

TEST(Probe, TellsTrainingsApartByWhatTheyDoNotByTheNumbersThatAreSwept) {
  const auto kinds = [](const std::string& defenses, const std::string& train) {
    const auto experiment =
        read_experiment(parse_yaml("{data: {name: gaussian, records: 800, split: {size: 200}}, "
                                   "model: {name: mlp, hidden: [8]}, "
                                   "train: {epochs: 5, batch: 16" +
                                       train + "}, defenses: [" + defenses + "], attacks: [loss]}",
                                   ""),
                        "crew");
    std::set<std::string> all;
    for (const auto& [address, training] : make_plan(experiment).trainings)
      all.insert(cost_kind(training));
    return all;
  };
  const auto swept = kinds("{name: ccl, alpha: 0.3}, {name: ccl, alpha: 0.6}", "");
  EXPECT_EQ(swept.size(), 1U);
  EXPECT_EQ(kinds("{name: ccl}, {name: ccl, concave: quadratic}", "").size(), 2U);
  EXPECT_EQ(kinds("{name: early_stopping, epoch: 2}, {name: early_stopping, epoch: 3}", "").size(),
            1U);
  EXPECT_NE(kinds("{name: ccl, alpha: 0.3}", ", optimizer: {name: adam}"), swept);
}

TEST(Forecast, ComesFromCostsAndLearnsFromWhatIsDone) {
  const auto experiment = read_experiment(parse_yaml(some_seconds, ""), "crew");
  const auto plan = make_plan(experiment);
  // Two kinds of training, a target and a shadow of each: 500 epochs of 13 steps of 10 ms.
  std::map<std::string, TrainingCost> costs;
  for (const auto& [address, training] : plan.trainings)
    costs[cost_kind(training)] = {.step = 0.01, .weights = 1000};
  ASSERT_EQ(costs.size(), 2U);
  Forecast forecast(plan, nullptr, 1, costs);
  EXPECT_NEAR(forecast.left(), 4 * 65, 1);
  EXPECT_EQ(forecast.share(), 0);
  // A training that took ten times as long as expected says that its kind will go on so.
  const auto& job = plan.jobs.front();
  forecast.hear({Progress::Kind::started, 0, job.address});
  Progress done{Progress::Kind::done, 0, job.address};
  done.seconds = 650;
  forecast.hear(done);
  EXPECT_NEAR(forecast.left(), 650 + 2 * 65, 10);
  EXPECT_NEAR(forecast.share(), 0.25, 0.01);
  EXPECT_GT(forecast.disk(), 3 * 1000U);
  // One that has been silent for long will need some more.
  Progress started{Progress::Kind::started, 0, plan.jobs.back().address};
  started.time = seconds_since_1970() - 4000;
  forecast.hear(started);
  EXPECT_NEAR(forecast.left(), 650 + 2 * 65 + 1000, 20);
}

}  // namespace
}  // namespace imprint::crew_test
