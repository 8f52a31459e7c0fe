// Models from elsewhere attacked here, and the other way round; and the keys of `data`.
#include "framework/data/formats/weights.h"

#include "framework/training/model.h"
#include "tests/support/fixtures.h"
#include "tests/support/workshop.h"

namespace imprint::weights_test {
namespace {

constexpr auto one_cell = R"(name: one
data: {name: gaussian, records: 400, features: 20, split: {size: 50}}
model: {name: mlp, hidden: [32]}
train: {epochs: 6, batch: 16, optimizer: {lr: 0.1, momentum: 0.9}}
attacks: [loss]
)";

TEST(Export, WritesWhatPyTorchOpensAndATargetCanBeMadeOf) {
  Workshop shop(one_cell);
  ASSERT_EQ(shop.run().code, 0);
  for (const auto* name : {"model.pt", "model.safetensors"}) {
    const auto file = shop.at(name).string();
    const auto output = shop.imprint({"export", shop.latest().string(), file});
    ASSERT_EQ(output.code, 0) << output.err;
    EXPECT_EQ(output.out, file + ": 4 tensors of 001-none-seed0, epoch 6\n");
    const auto weights = load_weights(file);
    EXPECT_EQ(weights.at("layer0.weight").sizes(), torch::IntArrayRef({32, 20}));
  }
  const auto results = file_text(shop.latest() / "results.csv");
  // The same weights, given instead of trained: the same answers to the last digit.
  shop.write("f.yaml", std::string(one_cell) + "target: {weights: model.pt}\n");
  const auto trained = shop.stored("train");
  const auto given = shop.run();
  ASSERT_EQ(given.code, 0) << given.err;
  EXPECT_EQ(shop.stored("train"), trained + 1) << "the shadow is shared, the target is not trained";
  EXPECT_EQ(file_text(shop.latest() / "results.csv"), results);
}

TEST(Export, SaysWhichCellsThereAre) {
  Workshop shop;
  const auto unknown = shop.imprint({"export", shop.at("f.yaml").string(), "a.pt", "--cell", "x"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_NE(unknown.err.find("there is no cell 'x' (cells: 001-none-seed0, "), std::string::npos)
      << unknown.err;
  shop.write("f.yaml", one_cell);
  const auto absent = shop.imprint({"export", shop.at("f.yaml").string(), "a.pt"});
  EXPECT_EQ(absent.code, 2);
  EXPECT_NE(absent.err.find("has no model of cell 001-none-seed0; run it first: imprint run"),
            std::string::npos)
      << absent.err;
}

TEST(Target, RefusesWeightsThatDoNotFit) {
  Workshop shop;
  const std::string target = "target: {weights: w.pt}\n";
  EXPECT_EQ(shop.refused(one_cell + target), "f.yaml:6:19: cannot read 'w.pt'");
  const auto shape = torch::zeros({32, 20});
  save_weights(shop.at("w.pt"), {{"layer0.weihgt", shape}});
  EXPECT_EQ(shop.refused(one_cell + target),
            "f.yaml:6:9: w.pt: has no weights 'layer0.weight'; did you mean 'layer0.weihgt'?");
  save_weights(shop.at("w.pt"), {{"layer0.weight", torch::zeros({32, 21})}});
  EXPECT_EQ(shop.refused(one_cell + target),
            "f.yaml:6:9: w.pt: 'layer0.weight' has shape [32, 21], the model's has [32, 20]");
}

TEST(Target, MayHaveMembersOfItsOwn) {
  Workshop shop;
  shop.write("members.txt", "0 1 2\n3 4 5 6 7 8 9\n");
  std::string file = one_cell;
  file.replace(file.find("{size: 50}"), 10, "{size: 50, members: members.txt}");
  shop.write("f.yaml", file);
  const auto output = shop.run();
  ASSERT_EQ(output.code, 0) << output.err;
  const auto results = file_text(shop.latest() / "results.csv");
  EXPECT_NE(results.find(",10,50\n"), std::string::npos) << results;
  shop.write("members.txt", "0 1 400");
  EXPECT_EQ(shop.run().code, 2);
  EXPECT_NE(shop.run().err.find("'400' is not the number of a record (0..399)"), std::string::npos);
}

TEST(DataKeys, RelabelJoinsClasses) {
  Workshop shop;
  const auto with = [](const std::string& keys) {
    return "data: {name: gaussian, classes: 4, records: 400, " + keys +
           ", split: {size: 20}}\nmodel: linear\ntrain: {epochs: 1, loss: logistic}\n"
           "attacks: [loss]\n";
  };
  shop.write("f.yaml", with("relabel: '0 2 | 1 3'"));
  EXPECT_EQ(shop.run().code, 0);
  std::filesystem::remove_all(shop.at("runs"));
  EXPECT_EQ(shop.refused(with("relabel: '0 2 | 1 4'")),
            "f.yaml:1:7: keep_classes or relabel names class 4, the data have 0..3");
  EXPECT_EQ(shop.refused(with("relabel: odd")),
            "f.yaml:1:59: relabel must be classes such as '1 3 5 | 0 2 4', each in one group, at "
            "least two groups; not 'odd'");
  EXPECT_EQ(shop.refused(with("relabel: '0 | 1', keep_classes: [0, 1]")),
            "f.yaml:1:59: give keep_classes or relabel, not both");
}

TEST(DataKeys, RefuseWhatTheRecordsCannotHave) {
  Workshop shop;
  const auto with = [](const std::string& keys) {
    return "data: {name: gaussian, " + keys +
           ", split: {size: 20}}\nmodel: linear\nattacks: [loss]\n";
  };
  EXPECT_EQ(shop.refused(with("normalise: standard")),
            "f.yaml:1:35: dataset 'gaussian' has no constants of its own; use normalise: members");
  EXPECT_EQ(shop.refused(with("augment: {flip: true}")),
            "f.yaml:1:7: augment needs images, the records have shape [20]");
}

}  // namespace
}  // namespace imprint::weights_test
