// Runs on a real Slurm of one node.
#include "tests/support/slurm.h"

#include "framework/runs/slurm.h"
#include "tests/support/workshop.h"

namespace imprint::slurm_test {
namespace {

namespace fs = std::filesystem;

constexpr auto some_seconds = R"(name: array
data: {name: gaussian, records: 800, features: 60, split: {size: 200}}
model: {name: mlp, hidden: [192, 96]}
train: {epochs: 400, batch: 16, optimizer: {lr: 0.05, momentum: 0.9}, evaluate: {every: 10}}
defenses: [none, {name: dropout, rate: 0.3}]
attacks: [loss]
seeds: 1
)";

#define IMPRINT_NEEDS_SLURM(cluster)                          \
  do {                                                        \
    if (!(cluster).problem().empty()) {                       \
      if (!skipping_allowed()) FAIL() << (cluster).problem(); \
      GTEST_SKIP() << (cluster).problem();                    \
    }                                                         \
  } while (false)

// The program with a cluster and checkpoints of many a moment.
class ClusterShop : public Workshop {
 public:
  explicit ClusterShop(const SlurmCluster& cluster, const std::string& experiment = some_seconds)
      : Workshop(experiment), cluster_(cluster) {}

  std::string command(const std::string& more = "") const {
    return std::string(IMPRINT_PROGRAM) + " run " + at("f.yaml").string() + " --out " +
           at("runs").string() + " --launcher slurm --workers 2 " + more;
  }
  Output shell(const std::string& script) const {
    return run_process({"/bin/bash", "-c", script}, {},
                       {"IMPRINT_STORE=" + at("store").string(), "IMPRINT_HOME=" IMPRINT_SOURCE,
                        "IMPRINT_CHECKPOINT_SECONDS=0.1", cluster_.environment()});
  }
  void expect_results_of(const Workshop& other) const {
    for (const auto* file : {"results.csv", "metrics.csv"})
      EXPECT_EQ(file_text(latest() / file), file_text(other.latest() / file)) << file;
    size_t compared = 0;
    for (const auto& entry : fs::recursive_directory_iterator(other.at("store/snapshot"))) {
      if (!entry.is_regular_file()) continue;
      const auto name = fs::relative(entry.path(), other.at("store"));
      EXPECT_EQ(file_text(entry.path()), file_text(at("store") / name)) << name;
      ++compared;
    }
    EXPECT_GE(compared, 8U);
  }

 private:
  const SlurmCluster& cluster_;
};

// Waits for a training under way, then goes on with what follows.
constexpr auto until_checkpoint =
    "; for i in $(seq 300); do ls $IMPRINT_STORE/checkpoint 2>/dev/null | grep -q . && break; "
    "sleep 0.1; done; ";

TEST(Slurm, RunsAnArrayLosesATaskAndGivesTheSameBits) {
  const SlurmCluster cluster;
  IMPRINT_NEEDS_SLURM(cluster);
  const Workshop here(some_seconds);
  ASSERT_EQ(here.run().code, 0);
  const ClusterShop shop(cluster);
  const auto output =
      shop.shell(shop.command() + " & main=$!" + until_checkpoint + IMPRINT_PROGRAM " status " +
                 shop.latest().string() + "; kill -KILL $(pgrep -f '[i]mprint work " +
                 fs::canonical(shop.at(".")).string() + "' | head -1); wait $main");
  EXPECT_EQ(output.code, 0) << output.out << output.err;
  EXPECT_NE(output.err.find("Slurm's array"), std::string::npos) << output.err;
  EXPECT_NE(output.out.find("is at work\nunder way"), std::string::npos) << output.out;
  std::string logs;
  for (const auto* log : {"slurm/0.log", "slurm/1.log"}) logs += file_text(shop.latest() / log);
  EXPECT_NE(logs.find("Killed"), std::string::npos) << logs;
  const auto array = file_text(shop.latest() / "slurm/array");
  const auto tasks =
      cluster.run({"scontrol", "--oneliner", "show", "job", array.substr(0, array.find('\n'))});
  EXPECT_NE(tasks.out.find(" Restarts=1 "), std::string::npos) << tasks.out;
  shop.expect_results_of(here);
  // Nobody is left behind; the last may still be on their way out.
  EXPECT_EQ(cluster.left("RUNNING,COMPLETING"), "");

  // Submitted and left; a later command collects, whoever waits for it in between.
  const ClusterShop later(cluster);
  const auto left = later.shell(later.command("--no-wait"));
  EXPECT_EQ(left.code, 0) << left.err;
  EXPECT_NE(left.err.find("Collect its results with: ./imprint run "), std::string::npos)
      << left.err;
  EXPECT_FALSE(fs::exists(later.latest() / "results.csv"));
  const auto collected = later.shell(later.command());
  EXPECT_EQ(collected.code, 0) << collected.err;
  EXPECT_NE(collected.err.find(", submitted before"), std::string::npos) << collected.err;
  later.expect_results_of(here);
}

constexpr auto in_stages = R"(name: stages
data: {name: gaussian, records: 400, split: {protocol: pool, size: 200, test: 50}}
model: {name: mlp, hidden: [16]}
train: {epochs: 5, batch: 16}
attacks: [lira]
shadows: {count: 4, targets: 2, until: {metric: auc, half_width: 1e-6}}
)";

TEST(Slurm, WorkersAddShadowsStageByStage) {
  const SlurmCluster cluster;
  IMPRINT_NEEDS_SLURM(cluster);
  const Workshop here(in_stages);
  ASSERT_EQ(here.run().code, 0);
  const ClusterShop shop(cluster, in_stages);
  const auto output = shop.shell(shop.command());
  EXPECT_EQ(output.code, 0) << output.out << output.err;
  EXPECT_NE(output.err.find("more shadows"), std::string::npos) << output.err;
  EXPECT_EQ(shop.stored("train"), 6U);
  shop.expect_results_of(here);
}

constexpr auto half_of_it_diverges = R"(name: failing
data: {name: gaussian, records: 400, features: 20, split: {size: 50}}
model: {name: mlp, hidden: [32]}
train: {epochs: 6, batch: 16, optimizer: {lr: !sweep [0.1, 1e30], momentum: 0.9}}
attacks: [loss]
)";

TEST(Slurm, WhatFailsIsToldAndTheRestIsReported) {
  const SlurmCluster cluster;
  IMPRINT_NEEDS_SLURM(cluster);
  const Workshop here(half_of_it_diverges);
  ASSERT_EQ(here.run().code, 1);
  const ClusterShop shop(cluster, half_of_it_diverges);
  const auto output = shop.shell(shop.command());
  EXPECT_EQ(output.code, 1) << output.out << output.err;
  EXPECT_NE(output.err.find("imprint: failed: "), std::string::npos) << output.err;
  EXPECT_EQ(output.err.find("ended before the work was done"), std::string::npos) << output.err;
  EXPECT_FALSE(file_text(here.latest() / "results.csv").empty());
  EXPECT_EQ(file_text(shop.latest() / "results.csv"), file_text(here.latest() / "results.csv"));
}

TEST(Slurm, ACancelledArrayIsSavedAndStaysCancelled) {
  const SlurmCluster cluster;
  IMPRINT_NEEDS_SLURM(cluster);
  const ClusterShop shop(cluster);
  const auto output = shop.shell(shop.command("train.epochs=100000") + " & main=$!" +
                                 until_checkpoint + "scancel --user=root; wait $main");
  EXPECT_EQ(output.code, 1) << output.err;
  EXPECT_NE(output.err.find("ended before the work was done"), std::string::npos) << output.err;
  EXPECT_GE(shop.stored("checkpoint"), 1U);
  EXPECT_EQ(cluster.left("PENDING,RUNNING,COMPLETING"), "");
}

TEST(Slurm, RefusesWhatItCannotDo) {
  const Workshop shop(some_seconds);
  const auto refused = [&](const std::string& key) {
    const auto output = shop.run({"--launcher", "slurm", "--slurm", key});
    EXPECT_EQ(output.code, 2);
    return output.err;
  };
  EXPECT_EQ(refused("array=1-5"),
            "--slurm array=1-5: 'array' is set by the launcher; use "
            "--workers\n");
  EXPECT_EQ(refused("rm -rf"),
            "--slurm rm -rf: expected key=value with a long option of sbatch, such as "
            "partition=short or time=2:00:00\n");
  const auto without =
      run_process({IMPRINT_PROGRAM, "run", shop.at("f.yaml").string(), "--out",
                   shop.at("runs").string(), "--launcher", "slurm"},
                  {}, {"IMPRINT_STORE=" + shop.at("store").string(), "PATH=/nowhere"});
  EXPECT_EQ(without.code, 2);
  EXPECT_EQ(without.err,
            "there is no sbatch here: --launcher slurm needs Slurm's commands on "
            "PATH\n");
}

TEST(Slurm, WritesAScriptThatAsksForWhatTheUserSaid) {
  const TempFolder folder;
  const auto run = folder.path() / "50 % it's";
  std::filesystem::create_directory(run);
  const auto script = slurm_script(run, {8, {"time=1:00:00", "exclusive"}, "/a b/imprint"});
  for (const auto* line :
       {"#SBATCH --array=0-7\n", "#SBATCH --time=1:00:00\n", "#SBATCH --exclusive\n",
        "#SBATCH --requeue\n", "'/a b/imprint' work ", "scontrol requeue"})
    EXPECT_NE(script.find(line), std::string::npos) << line << script;
  EXPECT_NE(script.find("#SBATCH --output='" + fs::canonical(folder.path()).string() +
                        R"(/50 %% it'\''s/slurm/%a.log')" + "\n"),
            std::string::npos)
      << script;
  EXPECT_EQ(run_process({"/bin/bash", "-n"}, script).code, 0);
}

}  // namespace
}  // namespace imprint::slurm_test
