// Tests of the whole program, run as users run it.
#include <filesystem>
#include <fstream>
#include <regex>

#include "framework/data/formats/images.h"
#include "framework/data/formats/npz.h"
#include "tests/support/fixtures.h"
#include "tests/support/workshop.h"

namespace imprint::program_test {
namespace {

namespace fs = std::filesystem;

TEST(Program, RunsAnExperimentToItsReport) {
  const Workshop shop;
  const auto output = shop.run();
  ASSERT_EQ(output.code, 0) << output.err;
  EXPECT_NE(output.out.find("report.html"), std::string::npos);
  EXPECT_NE(output.out.find("./imprint tensorboard"), std::string::npos);
  for (const auto* file : {"config.yaml", "results.csv", "metrics.csv", "results.json",
                           "report.html", "environment.json", "log.jsonl"})
    EXPECT_TRUE(fs::exists(shop.latest() / file)) << file;
  const auto csv = file_text(shop.latest() / "results.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'),
            1 + 3 * 2 * 2);  // header, cells x seeds x attacks
  EXPECT_NE(csv.find("ccl.alpha"), std::string::npos);
}

TEST(Program, SecondRunTrainsNothingAndSaysSo) {
  const Workshop shop;
  ASSERT_EQ(shop.run().code, 0);
  const auto first = file_text(shop.latest() / "results.csv");
  const auto again = shop.run();
  EXPECT_NE(again.err.find("nothing to do: everything comes from the store"), std::string::npos)
      << again.err;
  EXPECT_EQ(file_text(shop.latest() / "results.csv"), first);
}

TEST(Program, AnAttackAddedLaterRetrainsNothing) {
  Workshop shop;
  ASSERT_EQ(shop.run().code, 0);
  const auto trained = shop.stored("train");
  const auto added = shop.run({"attacks=[loss, entropy, modified_entropy]"});
  EXPECT_NE(added.err.find("6 to do, no training among them"), std::string::npos) << added.err;
  EXPECT_EQ(shop.stored("train"), trained);
}

TEST(Program, TheResolvedFileRerunsToTheSameBits) {
  const Workshop shop;
  ASSERT_EQ(shop.run().code, 0);
  const auto config = fs::canonical(shop.latest()) / "config.yaml";
  const auto other = shop.at("other").string();
  const auto again = shop.imprint(
      {"run", config.string(), "--out", other, "--store", shop.at("other-store").string()});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(file_text(shop.latest() / "results.csv"),
            file_text(fs::path(other) / "latest/results.csv"));
  EXPECT_EQ(file_text(shop.latest() / "config.yaml"),
            file_text(fs::path(other) / "latest/config.yaml"));
}

// Runs, then checks that the resolved file needs nothing that is not stored.
void expect_rerunnable(const std::vector<std::string>& overrides) {
  const Workshop shop;
  auto more = overrides;
  more.push_back("seeds=1");
  const auto first = shop.run(more);
  ASSERT_EQ(first.code, 0) << first.err;
  const auto config = fs::canonical(shop.latest()) / "config.yaml";
  const auto again = shop.imprint({"run", config.string(), "--out", shop.at("again").string()});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.err.find("nothing to do"), std::string::npos) << again.err << file_text(config);
  EXPECT_EQ(file_text(shop.latest() / "results.csv"),
            file_text(shop.at("again/latest/results.csv")));
}

TEST(Program, ResolvedFilesWriteOnlyDefaultsThatAllCellsShare) {
  expect_rerunnable({"defenses=[none, {name: dpsgd, noise: 0.5}]"});
  expect_rerunnable({"train.optimizer={name: !sweep [sgd, adam]}", "defenses=[none]"});
  expect_rerunnable({"model={name: !sweep [mlp, linear]}", "defenses=[none]"});
  expect_rerunnable({"train.epochs=3,12", "defenses=[none]"});
  expect_rerunnable({"attacks=[!sweep [loss, entropy], {name: confidence, of: !sweep [max, true]}]",
                     "defenses=[none]"});
  expect_rerunnable(
      {"defenses=[none, {name: ccl, label: x, with: {data.split.protocol: five_way, train.epochs: "
       "3}}, "
       "[{name: label_smoothing, epsilon: !sweep [0.1, 0.2]}, {name: early_stopping, epoch: 2}]]"});
}

TEST(Program, SeedsOnTheCommandLineAreAListOfSeeds) {
  const Workshop shop;
  const auto output = shop.run({"seeds=3,5", "defenses=[none]"});
  EXPECT_NE(output.err.find("tiny: 2 cells"), std::string::npos) << output.err;
}

TEST(Program, TheNumberOfWorkersChangesNoBit) {
  const Workshop one, four;
  ASSERT_EQ(one.run({"--jobs", "1"}).code, 0);
  ASSERT_EQ(four.run({"--jobs", "4"}).code, 0);
  for (const auto* file : {"results.csv", "metrics.csv", "config.yaml"})
    EXPECT_EQ(file_text(one.latest() / file), file_text(four.latest() / file)) << file;
  for (const auto& entry : fs::directory_iterator(one.latest() / "records"))
    EXPECT_EQ(file_text(entry.path()),
              file_text(four.latest() / "records" / entry.path().filename()));
}

TEST(Program, EarlyStoppingIsOneTrainingForItsWholeGrid) {
  const Workshop shop;
  const auto output =
      shop.run({"defenses=[none, {name: early_stopping, epoch: !sweep [1, 3, 5]}, {name: "
                "confidence_rounding}]",
                "seeds=1"});
  ASSERT_EQ(output.code, 0) << output.err;
  EXPECT_EQ(shop.stored("train"), 2U);  // target and shadow
}

TEST(Program, ALaterEpochAskedForRepeatsTheTrainingToTheSameBits) {
  const Workshop shop;
  ASSERT_EQ(shop.run({"defenses=[{name: early_stopping, epoch: 3}]", "seeds=1"}).code, 0);
  const auto before = shop.stored("snapshot");
  ASSERT_EQ(shop.run({"defenses=[{name: early_stopping, epoch: 2}]", "seeds=1"}).code, 0);
  EXPECT_EQ(shop.stored("train"), 2U);
  EXPECT_EQ(shop.stored("snapshot"), before + 2);
}

TEST(Program, TheTeacherIsTheUndefendedTraining) {
  const Workshop shop;
  ASSERT_EQ(shop.run({"defenses=[none, {name: distillation}]", "seeds=1"}).code, 0);
  EXPECT_EQ(shop.stored("train"), 4U);  // target and shadow, undefended and distilled
}

TEST(Program, AFailedJobIsReportedAndTheOthersGoOn) {
  const Workshop shop;
  const auto output = shop.run(
      {"defenses=[none, [{name: ccl}, {name: dpsgd}]]", "train.optimizer.lr=1e30", "seeds=1"});
  // A learning rate like this gives scores that are not numbers; nothing else breaks.
  EXPECT_EQ(output.code, 1) << output.err;
  EXPECT_NE(output.err.find("imprint: failed: attack loss"), std::string::npos) << output.err;
  EXPECT_NE(output.err.find("the same command tries again"), std::string::npos);
}

TEST(Program, RefusesWithTheExactMessage) {
  Workshop shop;
  const std::string rest = "model: {name: mlp}\ntrain: {epochs: 2}\n";
  const std::string data = "data: {name: gaussian, split: {size: 50}}\n";
  EXPECT_EQ(shop.refused(data + rest + "atacks: [loss]\n"),
            "f.yaml:4:1: unknown key 'atacks' in the experiment; did you mean 'attacks'? (keys: "
            "attacks, audit, base, data, defenses, "
            "device, expect, figures, measures, model, name, plugins, scaled, seeds, shadows, "
            "target, train, tune)");
  EXPECT_EQ(
      shop.refused(data + "model: {name: mlpp}\n"),
      "f.yaml:2:15: there is no model 'mlpp'; did you mean 'mlp'? (models: cnn, densenet, linear, "
      "mlp, resnet, torchscript, two_layer, vgg, wide_resnet)");
  EXPECT_EQ(shop.refused(rest), "f.yaml:1:1: the experiment needs the key 'data'");
  EXPECT_EQ(shop.refused(data + rest + "defenses:\n  - {name: ccl, alhpa: 0.5}\n"),
            "f.yaml:5:17: unknown key 'alhpa' in defense 'ccl'; did you mean 'alpha'? (keys: "
            "alpha, beta, concave, convex, gamma, label, name, with)");
  EXPECT_EQ(shop.refused(data + rest + "seeds: 0\n"),
            "f.yaml:4:8: seeds must be a number of seeds (at least 1) or a list of different "
            "seeds, not 0");
  EXPECT_EQ(shop.refused(data + rest + "defenses: [{name: adversarial_regularization}]\n"),
            "f.yaml:4:12: defense 'adversarial_regularization' needs reference records, which "
            "protocol four_way does not have; use "
            "data.split.protocol: five_way (for this entry alone: with: {data.split.protocol: "
            "five_way})");
  EXPECT_EQ(shop.refused(data + rest + "defenses: [{name: early_stopping, epoch: 3}]\n"),
            "f.yaml:4:12: the epoch released (3) must not exceed train.epochs (2)");
  EXPECT_EQ(shop.refused("data: {name: gaussian, split: {size: 5000}}\n" + rest),
            "f.yaml:1:31: four_way needs 20000 records (4 x 5000), the data have 4000; at most "
            "1000 per piece");
  EXPECT_EQ(shop.refused(data + rest + "device: gpu\n"),
            "f.yaml:4:9: device must be one of auto, cpu, cuda, cuda:1, not 'gpu'");
  EXPECT_EQ(shop.refused(data + "model: {name: mlp}\ntrain: {loss: logistic, sampling: "
                                "shuffle}\ndefenses: [{name: dpsgd}]\n"),
            "f.yaml:4:12: defense 'dpsgd' needs train.sampling: poisson, not shuffle");
  EXPECT_EQ(shop.refused("data: {name: gaussian, classes: 3, split: {size: 50}}\nmodel: {name: "
                         "mlp}\ntrain: {loss: logistic}\n"),
            "f.yaml:1:7: this train.loss has one output and needs two classes, the data have 3; "
            "choose two with keep_classes or relabel");
  EXPECT_EQ(shop.refused(data + rest + "attacks: [loss, loss]\n"),
            "f.yaml:4:17: two attacks are called 'loss'; give one a label");
  EXPECT_EQ(shop.refused(data + rest + "figures: [{z: advantage}]\n"),
            "f.yaml:4:12: unknown key 'z' in this figure (keys: group, panel, x, y)");
  EXPECT_EQ(shop.refused(data + rest + "plugins: [nowhere.so]\n"),
            "f.yaml:4:11: plugin 'nowhere.so' does not exist");
  const std::string bad_name =
      "name must be a word without spaces, slashes and a dot in front, and not latest";
  EXPECT_EQ(shop.refused(data + rest + "name: a b\n"), "f.yaml:4:7: " + bad_name);
  EXPECT_EQ(shop.refused(data + rest + "name: ..\n"), "f.yaml:4:7: " + bad_name);
  EXPECT_EQ(shop.refused(data + rest + "attacks: [loss]\nshadows: 0\n"),
            "f.yaml:5:10: attack 'loss' needs at least 1 shadow, not 0");
  EXPECT_EQ(shop.refused(data + rest + "defenses: [{name: ccl, with: {trian.epochs: 5}}]\n"),
            "f.yaml:4:31: with cannot change 'trian'; did you mean 'train'? (it can: data, device, "
            "measures, model, shadows, target, train)");
  EXPECT_EQ(shop.refused(data + rest + "measures: !sweep [loss_distribution]\n"),
            "f.yaml:4:11: measures cannot be swept; list its entries");
  EXPECT_EQ(shop.refused("data: {name: gaussian, keep_classes: [1], split: {size: 50}}\n" + rest),
            "f.yaml:1:38: keep_classes must name at least two different classes");
  EXPECT_EQ(shop.refused(data + rest + "device: cuda:x\n"),
            "f.yaml:4:9: device must be one of auto, cpu, cuda, cuda:1, not 'cuda:x'");
}

TEST(Program, ReportsEveryProblemOfAFile) {
  Workshop shop;
  const auto text = shop.refused(
      "data: {name: gausian}\nmodel: {name: mlp, hiden: [3]}\ntrain: {epochs: 0}\nattacks: "
      "[lossy]\n"
      "figures: [{q: 1}]\nseed: 3\n");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5) << text;
}

TEST(Program, RefusesAStoreItCannotWrite) {
  const Workshop shop;
  std::ofstream(shop.at("file")) << "x";
  const auto output = shop.run({"--store", (shop.at("file") / "store").string()});
  EXPECT_EQ(output.code, 2);
  EXPECT_NE(output.err.find("cannot be written"), std::string::npos) << output.err;
}

TEST(Program, ChecksWithoutTrainingOrWriting) {
  const Workshop shop;
  const auto output = shop.imprint({"check", shop.at("f.yaml").string()});
  EXPECT_EQ(output.code, 0) << output.err;
  EXPECT_NE(output.out.find("tiny: 6 cells"), std::string::npos) << output.out;
  EXPECT_NE(output.out.find("train       12 jobs, 0 stored, 12 to do"), std::string::npos)
      << output.out;
  EXPECT_FALSE(fs::exists(shop.at("store")));
}

TEST(Program, ListsAndExplainsFromWhatComponentsDeclare) {
  const Workshop shop;
  const auto list = shop.imprint({"list"}).out;
  for (const auto* name : {"ccl", "loss", "mlp", "fashion_mnist", "loss_distribution"})
    EXPECT_NE(list.find(std::string("  ") + name + " "), std::string::npos) << name;
  const auto explained = shop.imprint({"explain", "ccl"}).out;
  EXPECT_NE(explained.find("number, between 0 and 1; default 0.5"), std::string::npos) << explained;
  EXPECT_NE(explained.find("Liu et al., ICML 2024, Eq. 4-6"), std::string::npos);
  EXPECT_NE(shop.imprint({"explain", "loss"}).out.find("threat model  black box, probability"),
            std::string::npos);
  const auto wrong = shop.imprint({"explain", "cll"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_EQ(wrong.err,
            "there is no component 'cll'; did you mean 'ccl'? ('imprint list' shows all)\n");
  EXPECT_EQ(shop.imprint({"list", "atacks"}).err,
            "there is no kind 'atacks'; did you mean 'attacks'? (kinds: models, attacks, defenses, "
            "datasets, measures)\n");
}

// What `explain` prints is what every component declares when it is made with no keys; of each
// kind the program itself explains the one with the most.
template <class Interface, class... Args>
void expect_explained(const Registry<Interface, Args...>& registry,
                      std::type_identity_t<Args>... args) {
  static const Value no_keys;
  std::string name;
  std::vector<KeyDoc> most;
  for (const auto& [each, item] : registry.items()) {
    Problems missing;  // keys without a default
    const auto reading = new_reading(item.about.kind, missing);
    item.make(Keys(no_keys, reading), args...);
    EXPECT_FALSE(item.about.summary.empty()) << each;
    for (const auto& key : reading->docs)
      EXPECT_FALSE(key.type.empty() || key.doc.empty()) << each << ": " << key.path;
    if (name.empty() || reading->docs.size() > most.size()) name = each, most = reading->docs;
  }
  const Workshop shop;
  const auto output = shop.imprint({"explain", name});
  EXPECT_EQ(output.code, 0) << output.err;
  for (const auto& key : most) {
    EXPECT_NE(output.out.find("\n    " + key.path + " "), std::string::npos)
        << key.path << output.out;
    EXPECT_NE(output.out.find(key.doc), std::string::npos) << key.doc << output.out;
  }
}

TEST(Program, ExplainsEveryKeyOfEveryComponent) {
  expect_explained(ModelRegistry::instance(), Shape{{1, 32, 32}, 2, 0});
  expect_explained(AttackRegistry::instance());
  expect_explained(DefenseRegistry::instance());
  expect_explained(SourceRegistry::instance());
  expect_explained(MeasureRegistry::instance());
}

TEST(Program, BadArgumentsEndWithCodeTwo) {
  const Workshop shop;
  const auto wrong = shop.imprint({"runn"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_EQ(
      wrong.err,
      "there is no command 'runn'; did you mean 'run'? (commands: run, check, status, why, gc, "
      "work, score, export, list, explain, data, new, doctor)\n");
  EXPECT_EQ(shop.imprint({"run"}).code, 2);
  EXPECT_EQ(shop.run({"--jobs", "0"}).code, 2);
  EXPECT_EQ(shop.imprint({"--help"}).code, 0);
}

TEST(Program, EventFilesAreReadByTheRealTensorBoard) {
  IMPRINT_NEEDS_PYTHON();
  const Workshop shop;
  ASSERT_EQ(shop.run({"measures=[loss_distribution]", "seeds=1"}).code, 0);
  const auto result = run_python(R"(
import sys, os
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
for run in sorted(os.listdir(sys.argv[1])):
    events = EventAccumulator(os.path.join(sys.argv[1], run)); events.Reload()
    tags = events.Tags()["scalars"]
    print(run, len(events.Scalars("training/loss")), "accuracy/test" in tags, "advantage/loss" in tags,
          "loss_distribution/train_loss_mean" in tags)
)",
                                 {(shop.latest() / "tensorboard").string()});
  EXPECT_EQ(result.out,
            "001-none-seed0 6 True True True\n002-ccl-alpha=0.3-seed0 6 True True "
            "True\n003-ccl-alpha=0.6-seed0 6 True True True\n")
      << result.err;
}

TEST(Program, RecordsAreReadByNumPy) {
  IMPRINT_NEEDS_PYTHON();
  const Workshop shop;
  ASSERT_EQ(shop.run({"seeds=1"}).code, 0);
  const auto result = run_python(R"(
import sys, numpy
z = numpy.load(sys.argv[1])
print(sorted(z.files), z["member"].sum(), len(z["loss.scores"]))
)",
                                 {(shop.latest() / "records/001-none-seed0.npz").string()});
  EXPECT_EQ(result.out,
            "['entropy.decisions', 'entropy.scores', 'label', 'loss.decisions', 'loss.scores', "
            "'member', 'natural', 'record'] 50 100\n")
      << result.err;
}

// Every example of configs/ runs to its end, and names what its folder says.
class Example : public testing::TestWithParam<fs::path> {};

// The user's own files, for the examples that name some.
std::vector<std::string> own_files(const Workshop& shop, const std::string& example) {
  if (example == "npz") {
    NpzWriter file(shop.at("records.npz"));
    std::vector<double> x(400 * 5);
    std::vector<int64_t> y(400);
    for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<double>(i * i));
    for (size_t i = 0; i < y.size(); ++i) y[i] = x[5 * i] > 0 ? 1 : 0;
    file.add("x", x, {400, 5});
    file.add("y", y);
    file.close();
    return {"data.path=" + shop.at("records.npz").string()};
  }
  if (example != "image_folder") return {};
  for (int i = 0; i < 40; ++i) {
    const auto folder = shop.at(i % 2 == 0 ? "images/cats" : "images/dogs");
    fs::create_directories(folder);
    write_png(folder / fmt::format("{}.png", i),
              torch::randint(0, 255, {3, 40, 50}, torch::kUInt8));
  }
  return {"data.path=" + shop.at("images").string()};
}

TEST_P(Example, RunsToItsEnd) {
  const Workshop shop;
  const auto name = GetParam().stem().string();
  std::vector<std::string> arguments{"run", GetParam().string(), "--out", shop.at("runs").string()};
  for (const auto& more : own_files(shop, name)) arguments.push_back(more);
  const auto output = shop.imprint(arguments);
  // Data that must be fetched may be absent: then the message says how to get them.
  if (output.code == 2 && GetParam().parent_path().filename() == "datasets" &&
      output.err.ends_with(fmt::format("Get them with: imprint data get {}\n", name)))
    GTEST_SKIP() << output.err;
  EXPECT_EQ(output.code, 0) << output.err;
  EXPECT_NE(file_text(shop.latest() / "config.yaml").find(GetParam().stem().string()),
            std::string::npos);
  EXPECT_GT(file_text(shop.latest() / "report.html").size(), 10'000U);
}

std::vector<fs::path> examples() {
  std::vector<fs::path> files;
  for (const auto* folder : {"attacks", "defenses", "models", "datasets", "measures"})
    for (const auto& entry : fs::directory_iterator(fs::path(IMPRINT_SOURCE) / "configs" / folder))
      if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

INSTANTIATE_TEST_SUITE_P(Configs, Example, testing::ValuesIn(examples()), [](const auto& info) {
  return info.param.parent_path().filename().string() + "_" + info.param.stem().string();
});

}  // namespace
}  // namespace imprint::program_test
