// Audits as users run them: pools with several targets, canaries, stages, attackers who do not know
// the defense; and what jobs may look at.
#include <ATen/record_function.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "framework/runs/addresses.h"
#include "framework/runs/work.h"
#include "tests/support/fixtures.h"
#include "tests/support/table.h"
#include "tests/support/workshop.h"

namespace imprint::audits_test {
namespace {

namespace fs = std::filesystem;

constexpr auto pool = R"(name: pool
data: {name: gaussian, records: 500, features: 20, separation: 2, split: {protocol: pool, size: 200, test: 50, population: 60}}
model: {name: mlp, hidden: [32]}
train: {epochs: 10, batch: 16, optimizer: {lr: 0.1, momentum: 0.9}}
attacks: [loss, lira, rmia]
shadows: {count: 4}
)";

TEST(Audit, EveryModelOfAPoolPlaysTheTarget) {
  const Workshop shop(pool);
  const auto output = shop.run({"shadows.targets=all"});
  ASSERT_EQ(output.code, 0) << output.err;
  EXPECT_EQ(shop.stored("train"), 6U);  // three blocks of two: each target has four shadows
  const auto rows = csv_rows(shop.latest() / "results.csv");
  ASSERT_EQ(rows.size(), 6U * 3);
  std::set<std::string> targets;
  for (const auto& row : rows) {
    targets.insert(row.at("target"));
    EXPECT_EQ(row.at("members"), "100");
    EXPECT_EQ(row.at("non_members"), "100");
  }
  EXPECT_EQ(targets.size(), 6U);
  EXPECT_NE(output.out.find("over targets"), std::string::npos) << output.out;
}

TEST(Audit, MoreShadowsKeepWhatIsTrained) {
  const Workshop shop(pool);
  ASSERT_EQ(shop.run().code, 0);
  EXPECT_EQ(shop.stored("train"), 5U);  // the target and four shadows; its partner is not needed
  const auto more = shop.run({"shadows.count=6"});
  ASSERT_EQ(more.code, 0) << more.err;
  EXPECT_EQ(shop.stored("train"), 7U);
}

TEST(Audit, CanariesAreScoredApart) {
  const Workshop shop(pool);
  const auto plain = shop.run({"data.canaries.count=40"});
  ASSERT_EQ(plain.code, 0) << plain.err;
  for (const auto& row : csv_rows(shop.latest() / "results.csv"))
    EXPECT_EQ(std::stoi(row.at("members")) + std::stoi(row.at("non_members")), 200);
  double auc = 0, epsilon = -1;
  for (const auto& row : csv_rows(shop.latest() / "metrics.csv")) {
    if (row.at("metric") == "loss.canary_auc") {
      auc = std::stod(row.at("value"));
      EXPECT_EQ(row.at("n"), "40");
    }
    if (row.at("metric") == "loss.one_run_epsilon") epsilon = std::stod(row.at("value"));
  }
  // A network that overfits learns wrong labels by heart.
  EXPECT_GT(auc, 0.8);
  EXPECT_GT(epsilon, 0);
  for (const auto* kind : {"random", "natural"}) {
    const auto other =
        shop.run({"data.canaries.count=40", std::string("data.canaries.kind=") + kind});
    EXPECT_EQ(other.code, 0) << kind << other.err;
  }
}

TEST(Audit, AddsShadowsUntilTheIntervalIsNarrowEnough) {
  const Workshop shop(pool);
  const std::vector<std::string> wide{"shadows.count=8", "shadows.targets=all",
                                      "shadows.until={metric: auc, attack: lira, half_width: 0.2}"};
  const auto soon = shop.run(wide);
  ASSERT_EQ(soon.code, 0) << soon.err;
  EXPECT_EQ(shop.stored("train"), 4U) << soon.err;  // two shadows: two blocks
  auto narrow = wide;
  narrow.back() = "shadows.until={metric: auc, attack: lira, half_width: 0.001}";
  const auto late = shop.run(narrow);
  ASSERT_EQ(late.code, 0) << late.err;
  EXPECT_EQ(shop.stored("train"), 10U);  // never narrow enough: all eight
  const auto stages = nlohmann::json::parse(file_text(shop.latest() / "results.json")).at("stages");
  std::set<int64_t> counts;
  for (const auto& stage : stages) counts.insert(stage.at("shadows").get<int64_t>());
  EXPECT_EQ(counts, (std::set<int64_t>{2, 4, 8}));
  EXPECT_NE(file_text(shop.latest() / "report.html").find("against the number of shadows"),
            std::string::npos);
  // Whatever is stored by now, the first file decides as before.
  ASSERT_EQ(shop.run(wide).code, 0);
  EXPECT_EQ(csv_rows(shop.latest() / "results.csv").size(), 4U * 3);
}

TEST(Audit, ShowsWhatKnowingTheDefenseIsWorth) {
  const Workshop shop(tiny);
  const auto output = shop.run({"shadows={defense: !sweep [same, none]}", "seeds=1"});
  ASSERT_EQ(output.code, 0) << output.err;
  EXPECT_NE(file_text(shop.latest() / "report.html").find("Attackers who know the defense"),
            std::string::npos);
  EXPECT_NE(output.out.find("shadows.defense=none"), std::string::npos) << output.out;
}

TEST(Audit, ChoosesSettingsOnRecordsThatNothingElseIsMeasuredOn) {
  Workshop shop(tiny);
  const auto output = shop.run({"data.split.tune=60", "tune={by: p1_cell}", "seeds=1"});
  ASSERT_EQ(output.code, 0) << output.err;
  const auto json = nlohmann::json::parse(file_text(shop.latest() / "results.json"));
  ASSERT_EQ(json.at("chosen").size(), 1U);
  EXPECT_EQ(json.at("chosen")[0].at("label"), "ccl");
  EXPECT_EQ(json.at("chosen")[0].at("among"), 2);
  size_t measured = 0;
  for (const auto& row : csv_rows(shop.latest() / "metrics.csv"))
    if (row.at("metric") == "tune.accuracy") {
      EXPECT_EQ(row.at("n"), "60");
      ++measured;
    }
  EXPECT_EQ(measured, 3U);
  for (const auto& row : csv_rows(shop.latest() / "results.csv"))
    EXPECT_EQ(row.at("non_members"), "50");
  Workshop other;
  EXPECT_EQ(other.refused(std::string(tiny) + "tune: {by: p1}\n"),
            "f.yaml:10:12: by must be one of p1_cell, accuracy, advantage, not 'p1'\n"
            "f.yaml:10:7: tune chooses on records that are in no other piece; give some with "
            "data.split.tune");
}

TEST(Audit, RefusesAttacksWithoutWhatTheyNeed) {
  Workshop shop;
  std::string text = pool;
  const auto changed = [&](const std::string& from, const std::string& to) {
    auto copy = text;
    copy.replace(copy.find(from), from.size(), to);
    return copy;
  };
  EXPECT_EQ(
      shop.refused(changed("protocol: pool, size: 200, test: 50, population: 60", "size: 50")),
      "f.yaml:5:17: attack 'lira' needs shadows that saw the candidates or not, which protocol "
      "four_way does not have; use data.split.protocol: pool\n"
      "f.yaml:5:23: attack 'rmia' needs shadows that saw the candidates or not, which protocol "
      "four_way does not have; use data.split.protocol: pool\n"
      "f.yaml:5:23: attack 'rmia' needs records that nobody trains on; give some with "
      "data.split.population");
  EXPECT_EQ(shop.refused(changed("count: 4", "count: 1")),
            "f.yaml:6:10: attack 'lira' needs at least 2 shadows, not 1\n"
            "f.yaml:6:10: attack 'rmia' needs at least 2 shadows, not 1");
  EXPECT_EQ(shop.refused(changed("[loss, lira, rmia]", "[rotation]")),
            "f.yaml:5:11: attack 'rotation' turns, moves or mirrors images, the records have 1 "
            "dimension");
  EXPECT_EQ(shop.refused(std::string(tiny) + "shadows: {targets: 2}\n"),
            "f.yaml:10:10: only models of one pool can play the target in turn; use "
            "data.split.protocol: pool, not four_way");
}

// All attacks that need answers only, on images of a pool.
constexpr auto every_answer = R"(
data: {name: fashion_mnist, keep_classes: [0, 6], split: {protocol: pool, size: 60, test: 20, population: 20}}
model: {name: mlp, hidden: [8]}
train: {epochs: 2, batch: 16}
attacks: [correctness, gap, loss, confidence, entropy, modified_entropy, {name: neural, epochs: 1},
          rotation, translation, likelihood_ratio, {name: lira, augmentations: 1}, rmia, base, calibration,
          reference, population]
shadows: {count: 4}
)";

/// Counts the linear layers that this thread computes, in whatever model, as long as it lives.
class LinearLayers {
 public:
  LinearLayers() : handle_(at::addThreadLocalCallback(at::RecordFunctionCallback(&began))) {
    computed_ = 0;
  }
  ~LinearLayers() { at::removeCallback(handle_); }
  LinearLayers(const LinearLayers&) = delete;
  LinearLayers& operator=(const LinearLayers&) = delete;

  int64_t computed() const { return computed_; }

 private:
  static std::unique_ptr<at::ObserverContext> began(const at::RecordFunction& function) {
    computed_ += std::string_view(function.name()) == "aten::linear" ? 1 : 0;
    return nullptr;
  }

  static inline int64_t computed_ = 0;
  at::CallbackHandle handle_;
};

TEST(Attacks, NeverAskAModelTwiceForTheSame) {
  const TempFolder folder;
  const auto experiment = read_experiment(parse_yaml(every_answer, ""), "answers");
  const auto plan = make_plan(experiment);
  const Store store(folder.path() / "store");
  const JobEvents quiet{[](const EpochRow&) {}, [](const std::string&) {}};
  // Five models asked about the candidates and about the population; all of them about mirrored
  // images (lira); the target and the first shadow about two turned and four moved versions.
  size_t asked = 0;
  for (const auto& job : plan.jobs) asked += job.kind == Job::Kind::signals ? 1 : 0;
  EXPECT_EQ(asked, 5U + 5 + 5 + 2 * (2 + 4));
  for (const auto& job : plan.jobs)
    if (job.kind == Job::Kind::train) do_job(plan, job, store, quiet);
  const LinearLayers layers;
  for (const auto& job : plan.jobs)
    if (job.kind == Job::Kind::signals) do_job(plan, job, store, quiet);
  // Each question is one pass through the two layers; so is what tells the five test accuracies.
  EXPECT_EQ(layers.computed(), 2 * static_cast<int64_t>(asked + 5));
  // Without any model left, every attack still has what it needs.
  for (const auto& address : store.entries("snapshot")) store.remove("snapshot", address);
  for (const auto& job : plan.jobs) {
    if (job.kind != Job::Kind::attack) continue;
    EXPECT_NO_THROW(do_job(plan, job, store, quiet)) << job.title;
  }
  EXPECT_EQ(layers.computed(), 2 * static_cast<int64_t>(asked + 5));
}

// Replaces what a training left by weights that are no numbers, as if it had diverged, and forgets
// what followed from it.
void diverge(const Store& store, const Plan& plan, const Observed& model) {
  const auto address = snapshot_address(model.release.train, model.release.epoch);
  ASSERT_TRUE(store.has("snapshot", address)) << "planned otherwise than the program did";
  auto weights = store.tensors("snapshot", address, "weights");
  const auto defenses = store.tensors("snapshot", address, "defenses");
  for (auto& [name, weight] : weights) weight = torch::full_like(weight, std::nan(""));
  store.remove("snapshot", address);
  Draft draft(store, "snapshot", address);
  draft.tensors(weights, "weights");
  draft.tensors(defenses, "defenses");
  draft.commit();
  for (const auto& [place, signals] : model.signals) store.remove("signals", signals);
  for (const auto& [attack, job] : plan.attacks) store.remove("attack", attack);
}

TEST(Attacks, LeaveOutAShadowThatDiverged) {
  const Workshop shop(pool);
  ASSERT_EQ(shop.run().code, 0);
  const auto said = [&] { return file_text(shop.latest() / "report.html"); };
  EXPECT_EQ(said().find("gave no numbers"), std::string::npos);
  const auto plan = make_plan(read_experiment(parse_yaml(pool, ""), "pool"));
  for (const auto& [address, job] : plan.attacks)
    if (job.shadows.size() == 4) {
      diverge(Store(shop.at("store")), plan, job.shadows.back());
      break;
    }
  const auto output = shop.run();
  ASSERT_EQ(output.code, 0) << output.err;
  EXPECT_EQ(shop.stored("train"), 5U);  // nothing was trained again
  const auto rows = csv_rows(shop.latest() / "results.csv");
  ASSERT_EQ(rows.size(), 3U);
  for (const auto& row : rows) {
    EXPECT_GT(std::stod(row.at("auc")), 0) << row.at("attack");
    EXPECT_LE(std::stod(row.at("auc")), 1) << row.at("attack");
  }
  std::map<std::string, std::string> left_out;
  for (const auto& row : csv_rows(shop.latest() / "metrics.csv"))
    if (row.at("metric").ends_with(".shadows_left_out"))
      left_out[row.at("metric")] = row.at("value");
  EXPECT_EQ(left_out, (std::map<std::string, std::string>{{"lira.shadows_left_out", "1"},
                                                          {"rmia.shadows_left_out", "1"}}));
  for (const auto* attack : {"lira", "rmia"})
    EXPECT_NE(said().find(
                  fmt::format("1 of the shadows gave no numbers and were left out ({}).", attack)),
              std::string::npos)
        << output.out;
}

TEST(Attacks, FailWhereTheTargetItselfDiverged) {
  const Workshop shop(pool);
  // With a step size beyond all bounds nobody's answers are numbers; the run says so and goes on.
  const auto broken = shop.run({"train.optimizer.lr=1e30"});
  EXPECT_EQ(broken.code, 1);
  EXPECT_NE(broken.err.find("has the training diverged?"), std::string::npos) << broken.err;
}

// What `explain` says about each of them.
TEST(Attacks, HaveAThreatModelThatSaysAllThatTheyNeed) {
  for (const auto& name : AttackRegistry::instance().names()) {
    const auto needs = attack_of(name)->needs();
    const auto words = needs.words();
    const auto expect_said_if = [&](bool needed, const std::string& phrase) {
      EXPECT_EQ(words.find(phrase) != std::string::npos, needed) << name << ": " << words;
    };
    expect_said_if(true, "knows the true labels");
    expect_said_if(needs.access == Needs::Access::weights, "white box");
    expect_said_if(needs.access != Needs::Access::weights, "black box, ");
    expect_said_if(needs.access == Needs::Access::queries, "asks about records of its own making");
    expect_said_if(!needs.transforms.empty(), "changed versions of each record");
    expect_said_if(needs.records, "and the records");
    expect_said_if(needs.population, "has records that nobody trained on");
    expect_said_if(needs.shadows == Needs::Shadows::pool, "on halves of the candidates");
    expect_said_if(needs.shadows == Needs::Shadows::one, "learns from one shadow model");
    if (needs.shadows == Needs::Shadows::none) {
      expect_said_if(needs.decides, "no shadow model");
      expect_said_if(!needs.decides, "one shadow model, for the threshold");
    }
    if (needs.access == Needs::Access::weights) continue;
    expect_said_if(needs.signal == Needs::Signal::label, "labels only");
    expect_said_if(needs.signal == Needs::Signal::phi, "probability of the true class");
    expect_said_if(needs.signal == Needs::Signal::log_p, "black box, probabilities");
    expect_said_if(needs.signal == Needs::Signal::logits, "black box, logits");
  }
  const Workshop shop;
  for (const std::string name : {"lira", "boundary", "gradient_norm"})
    EXPECT_NE(shop.imprint({"explain", name})
                  .out.find("\n  threat model  " + attack_of(name)->needs().words() + "\n"),
              std::string::npos)
        << name;
}

}  // namespace
}  // namespace imprint::audits_test
