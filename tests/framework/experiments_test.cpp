// The files in experiments/: valid, and about what they run.
#include <algorithm>
#include <filesystem>
#include <set>

#include "framework/config/load.h"
#include "framework/reports/assemble.h"
#include "framework/reports/expect.h"
#include "framework/reports/samples.h"
#include "tests/support/fixtures.h"

namespace imprint::experiments_test {
namespace {

namespace fs = std::filesystem;

class ExperimentFile : public testing::TestWithParam<fs::path> {};

/// What stands under a key anywhere in the claims.
std::set<std::string> texts_under(const std::string& key, const Value& claims) {
  std::set<std::string> texts;
  for (const auto& entry : claims.entries) {
    if (entry.key == key) texts.insert(entry.value.text);
    texts.merge(texts_under(key, entry.value));
  }
  for (const auto& item : claims.items) texts.merge(texts_under(key, item));
  return texts;
}

bool runs(const Experiment& experiment, const std::string& attack) {
  return std::any_of(experiment.cells.begin(), experiment.cells.end(), [&](const Cell& cell) {
    return std::any_of(cell.attacks.begin(), cell.attacks.end(),
                       [&](const AttackChoice& each) { return fits(attack, each.label); });
  });
}

TEST_P(ExperimentFile, IsValidAndClaimsAreAboutItsCells) {
  const auto root = load_experiment_file(GetParam().string(), {});
  const auto experiment = read_experiment(root, GetParam().stem().string());
  Problems problems;
  const auto claims = read_claims(experiment.expect, problems);
  read_figures(experiment.figures, problems);
  EXPECT_EQ(joined(problems.lines(), "\n"), "");
  EXPECT_FALSE(claims.empty());
  std::set<std::string> labels;
  std::set<int64_t> seeds;
  for (const auto& cell : experiment.cells) labels.insert(cell.label), seeds.insert(cell.seed);
  for (const auto& label : texts_under("label", experiment.expect))
    EXPECT_TRUE(labels.contains(label)) << label;
  for (const auto& attack : texts_under("attack", experiment.expect))
    EXPECT_TRUE(runs(experiment, attack)) << attack;
  EXPECT_TRUE(experiment.tune || texts_under("chosen", experiment.expect).empty());
  // What runs here is repeated, and says that it is smaller than what was published.
  const auto name = GetParam().stem().string();
  if (name.ends_with("_scaled") || name.ends_with("_location30")) {
    EXPECT_TRUE(experiment.scaled);
    EXPECT_GE(seeds.size(), 3U);
  }
}

std::vector<fs::path> experiment_files() {
  std::vector<fs::path> files;
  for (const auto& paper : fs::directory_iterator(fs::path(IMPRINT_SOURCE) / "experiments"))
    for (const auto& entry : fs::directory_iterator(paper.path()))
      if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

INSTANTIATE_TEST_SUITE_P(Experiments, ExperimentFile, testing::ValuesIn(experiment_files()),
                         [](const auto& info) {
                           return info.param.parent_path().filename().string() + "_" +
                                  info.param.stem().string();
                         });

}  // namespace
}  // namespace imprint::experiments_test
