// `imprint score`: somebody else's outputs, from their file to the report.
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "framework/data/formats/npz.h"
#include "framework/data/formats/npz_reader.h"
#include "framework/data/formats/safetensors.h"
#include "framework/privacy/attack.h"
#include "framework/privacy/audit.h"
#include "tests/support/workshop.h"

namespace imprint::score_test {
namespace {

namespace fs = std::filesystem;

/// Arrays for a .npz file; small integers become int64, as NumPy has them.
using Arrays = std::map<std::string, Tensor>;

template <class T>
std::vector<T> values(const Tensor& tensor) {
  const auto flat = tensor.to(c10::CppTypeToScalarType<T>::value).contiguous();
  return {flat.template const_data_ptr<T>(), flat.template const_data_ptr<T>() + flat.numel()};
}

/// Attack -> column -> field of results.csv.
using Rows = std::map<std::string, std::map<std::string, std::string>>;

std::vector<std::string> fields(const std::string& line) {
  std::vector<std::string> all(1);
  for (const char c : line)
    if (c == ',')
      all.emplace_back();
    else
      all.back() += c;
  return all;
}

class ScoreShop : public Workshop {
 public:
  void npz(const std::string& name, const Arrays& arrays) const {
    NpzWriter file(at(name));
    for (const auto& [array, tensor] : arrays) {
      const auto shape = tensor.sizes().vec();
      if (tensor.scalar_type() == torch::kFloat32)
        file.add(array, values<float>(tensor), shape);
      else if (tensor.is_floating_point())
        file.add(array, values<double>(tensor), shape);
      else
        file.add(array, values<int64_t>(tensor), shape);
    }
    file.close();
  }

  Output score(const std::string& name, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"score", at(name).string(), "--out", at("runs").string()};
    for (const auto& each : more) arguments.push_back(each);
    return imprint(arguments);
  }

  Rows scored(const std::string& name, const std::vector<std::string>& more = {}) const {
    const auto output = score(name, more);
    EXPECT_EQ(output.code, 0) << output.err;
    return rows();
  }

  Rows rows() const {
    std::istringstream csv(file_text(latest() / "results.csv"));
    std::string line;
    std::getline(csv, line);
    const auto names = fields(line);
    Rows all;
    while (std::getline(csv, line)) {
      const auto cells = fields(line);
      std::map<std::string, std::string> row;
      for (size_t i = 0; i < names.size(); ++i) row[names[i]] = cells[i];
      all[row["attack"]] = row;
    }
    return all;
  }

  /// Whether a note of the newest results has these words.
  bool says(const std::string& words) const {
    const std::vector<std::string> notes =
        nlohmann::json::parse(file_text(latest() / "results.json")).at("notes");
    return std::any_of(notes.begin(), notes.end(), [&](const std::string& note) {
      return note.find(words) != std::string::npos;
    });
  }

  /// The message about a file that is refused, without the folder's name.
  std::string refused(const std::string& name, const std::vector<std::string>& more = {}) const {
    const auto output = score(name, more);
    EXPECT_EQ(output.code, 2) << output.out << output.err;
    EXPECT_FALSE(fs::exists(at("runs"))) << "something was written";
    auto text = output.err;
    const auto prefix = at("").string();
    for (size_t found = 0; (found = text.find(prefix)) != std::string::npos;)
      text.erase(found, prefix.size());
    return text.substr(0, text.find_last_not_of('\n') + 1);
  }
  std::string refused(const Arrays& arrays) const {
    npz("f.npz", arrays);
    return refused("f.npz");
  }
  std::string refused_csv(const std::string& text) {
    write("f.csv", text);
    return refused("f.csv");
  }
};

/// Two members and two others of class 0 with logits (d, 0).
Arrays four(const std::vector<double>& d = {3, 1, 2, -1}) {
  const auto first = torch::tensor(d, torch::kDouble);
  return {{"logits", torch::stack({first, torch::zeros_like(first)}, 1)},
          {"labels", torch::zeros({4}, torch::kLong)},
          {"members", torch::tensor({1, 1, 0, 0})}};
}

Arrays with(Arrays arrays, const std::string& name, const Tensor& tensor) {
  arrays[name] = tensor;
  return arrays;
}

Arrays without(Arrays arrays, const std::string& name) {
  arrays.erase(name);
  return arrays;
}

/// Forty records of three classes on which members are answered better.
Arrays forty(double phase) {
  const auto n = torch::arange(40, torch::kDouble);
  auto logits =
      torch::stack({(n * 1.7 + phase).sin(), (n * 2.3 + phase).cos(), (n * n + phase).sin()}, 1);
  const auto labels = torch::arange(40).remainder(3);
  const auto members = torch::arange(40).remainder(2);
  logits =
      logits.scatter_add(1, labels.unsqueeze(1), (0.5 + members.to(torch::kDouble)).unsqueeze(1));
  return {{"logits", logits}, {"labels", labels}, {"members", members}};
}

Arrays shadowed(Arrays arrays, const Arrays& shadow) {
  for (const auto& [name, tensor] : shadow) arrays["shadow_" + name] = tensor;
  return arrays;
}

std::string as_csv(const Arrays& arrays) {
  std::string text = "member,logit_0,logit_1,logit_2,label\n";
  for (int64_t i = 0; i < arrays.at("labels").size(0); ++i) {
    text += fmt::format("{}", arrays.at("members")[i].item<int64_t>());
    for (const auto value : values<double>(arrays.at("logits")[i]))
      text += fmt::format(",{}", value);
    text += fmt::format(",{}\n", arrays.at("labels")[i].item<int64_t>());
  }
  return text;
}

// Members have d = 3, 1 and others 2, -1: three of four pairs are in order. At d >= 3 one member
// and no other is called a member.
TEST(Score, RanksATinyFileAsByHand) {
  const ScoreShop shop;
  shop.npz("f.npz", four());
  auto rows = shop.scored("f.npz");
  for (const auto* column : {"advantage", "advantage_low", "advantage_high", "precision", "recall",
                             "p1", "p1_cell", "seed", "model", "defense"})
    EXPECT_EQ(rows["loss"][column], "") << column;
  EXPECT_EQ(rows["loss"]["auc"], "0.75");
  EXPECT_EQ(rows["loss"]["advantage_best"], "0.5");
  EXPECT_EQ(rows["loss"]["members"], "2");
  EXPECT_EQ(rows["loss"]["train_accuracy"], "1");
  EXPECT_EQ(rows["loss"]["test_accuracy"], "0.5");
  // It decides by itself: right about both members and one of the others.
  EXPECT_EQ(rows["correctness"]["advantage"], "0.5");
  EXPECT_EQ(rows["correctness"]["p1"], "0.5");
  EXPECT_EQ(rows["correctness"]["data"], "f.npz");
}

TEST(Score, SaysWhatCannotBeConcluded) {
  const ScoreShop shop;
  shop.npz("f.npz", four());
  const auto output = shop.score("f.npz");
  EXPECT_TRUE(shop.says("There is no shadow model (--shadow), so no threshold is fitted"));
  EXPECT_TRUE(
      shop.says("advantage_best takes the best one with the answers in hand and is optimistic"));
  EXPECT_TRUE(shop.says("Nothing is known about other trainings: there are no seeds."));
  EXPECT_TRUE(shop.says("is the word of whoever made the file"));
  EXPECT_NE(output.out.find("no threshold"), std::string::npos) << output.out;
  EXPECT_NE(output.out.find("- The numbers hold for these records"), std::string::npos);
  EXPECT_NE(file_text(shop.latest() / "report.html").find("<li>The numbers hold for these records"),
            std::string::npos);
}

TEST(Score, RunsEveryAttackOrSaysWhatItLacks) {
  const ScoreShop shop;
  shop.npz("f.npz", shadowed(forty(0), forty(1)));
  const auto rows = shop.scored("f.npz");
  EXPECT_TRUE(shop.says("What they would find is not known."));
  for (const auto& name : AttackRegistry::instance().names()) {
    // In the list of a reason: after another one or in front, before another one or at the end.
    bool left_out = false;
    for (const auto* before : {": ", "; ", ", "})
      for (const auto* after : {", ", " ("}) left_out |= shop.says(before + name + after);
    EXPECT_NE(rows.contains(name), left_out) << name;
  }
  EXPECT_TRUE(shop.says("lira"));
  EXPECT_TRUE(shop.says("(shadow models that saw these records or not)"));
  shop.npz("s.npz", {{"scores", torch::arange(4)}, {"members", torch::tensor({0, 1, 0, 1})}});
  EXPECT_EQ(shop.scored("s.npz").size(), 1U);
  EXPECT_TRUE(shop.says("(logits or probabilities)"));
}

TEST(Score, WritesTheFilesOfARun) {
  const ScoreShop shop;
  shop.npz("my outputs.npz", four());
  const auto output = shop.score("my outputs.npz");
  ASSERT_EQ(output.code, 0) << output.err;
  for (const auto* file : {"score.yaml", "results.csv", "metrics.csv", "results.json",
                           "report.html", "environment.json", ".finished"})
    EXPECT_TRUE(fs::exists(shop.latest() / file)) << file;
  EXPECT_EQ(fs::canonical(shop.latest()).parent_path().filename(), "score-my_outputs.npz");
  const auto records = read_npz(shop.latest() / "records/my_outputs.npz");
  EXPECT_EQ(values<int64_t>(records.at("record")), (std::vector<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(values<int64_t>(records.at("member")), (std::vector<int64_t>{1, 1, 0, 0}));
  EXPECT_NEAR(records.at("loss.scores")[1].item<double>(), -std::log1p(std::exp(-1)), 1e-15);
  EXPECT_TRUE(records.contains("correctness.decisions"));
  EXPECT_FALSE(records.contains("loss.decisions"));
}

TEST(Score, GivesTheSameNumbersForNpzAndCsv) {
  ScoreShop shop;
  shop.npz("f.npz", forty(0));
  shop.npz("shadow.npz", forty(1));
  shop.write("f.csv", as_csv(forty(0)));
  shop.write("shadow.csv", as_csv(forty(1)));
  auto npz = shop.scored("f.npz", {"--shadow", shop.at("shadow.npz").string()});
  auto csv = shop.scored("f.csv", {"--shadow", shop.at("shadow.csv").string()});
  shop.npz("both.npz", shadowed(forty(0), forty(1)));
  auto both = shop.scored("both.npz");
  EXPECT_GT(npz.size(), 4U);
  for (auto* rows : {&npz, &csv, &both})
    for (auto& [attack, row] : *rows) {
      EXPECT_NE(row["advantage"], "") << attack;
      EXPECT_NE(row["p1_cell"], "") << attack;
      for (const auto* name : {"cell", "data", "label"}) row.erase(name);
    }
  EXPECT_EQ(npz, csv);
  EXPECT_EQ(npz, both);
}

TEST(Score, GivesTheSameNumbersForProbabilities) {
  const ScoreShop shop;
  const auto logits = forty(0);
  shop.npz("f.npz", logits);
  auto rows = shop.scored("f.npz");
  shop.npz("p.npz",
           with(without(logits, "logits"), "probabilities", logits.at("logits").softmax(1)));
  auto same = shop.scored("p.npz");
  for (const auto* attack : {"loss", "confidence", "entropy", "correctness", "modified_entropy"})
    EXPECT_EQ(rows[attack]["auc"], same[attack]["auc"]) << attack;
}

TEST(Score, SaysWhereRoundingTiesRecords) {
  const ScoreShop shop;
  auto rounded = without(four(), "logits");
  rounded["probabilities"] = torch::tensor({{1.0, 0.0}, {1.0, 0.0}, {0.9, 0.1}, {0.495, 0.5}});
  shop.npz("f.npz", rounded);
  EXPECT_EQ(shop.scored("f.npz")["loss"]["auc"], "1");
  EXPECT_TRUE(
      shop.says("2 of 4 records have a probability that is exactly 1, as rounding makes it, and "
                "attacks cannot tell them apart; logits would."));
}

TEST(Score, EqualsTheRunThatGaveTheAnswers) {
  ScoreShop shop;
  const auto run = shop.run({"defenses=[none]", "seeds=1",
                             "attacks=[correctness, loss, confidence, entropy, modified_entropy, "
                             "gap, likelihood_ratio, neural]"});
  ASSERT_EQ(run.code, 0) << run.err;
  auto expected = shop.rows();
  const auto record = read_npz(shop.latest() / "records/001-none-seed0.npz").at("record");
  for (const auto& entry : fs::directory_iterator(shop.at("store/signals"))) {
    const auto columns = load_tensors(entry.path() / "columns.safetensors");
    const bool target = torch::equal(columns.at("record"), record);
    shop.npz(target ? "target.npz" : "shadow.npz",
             {{"logits", load_tensors(entry.path() / "answers.safetensors").at("logits")},
              {"labels", columns.at("y")},
              {"members", columns.at("member")}});
  }
  auto rows = shop.scored("target.npz", {"--shadow", shop.at("shadow.npz").string()});
  for (auto& [attack, row] : expected) {
    // The cell's P1 is that of all attacks, and here there may be more.
    for (const auto* name : {"cell", "data", "model", "defense", "label", "seed", "p1_cell",
                             "p1_cell_low", "p1_cell_high", "p1_cell_attack"}) {
      row.erase(name);
      rows[attack].erase(name);
    }
    EXPECT_EQ(rows[attack], row) << attack;
  }
}

// Thresholds: the shadow's members score 5 and 4, its others 1 and 3, so it is 4.
TEST(Score, TakesScoresOfAnyAttack) {
  const ScoreShop shop;
  const double infinity = std::numeric_limits<double>::infinity();
  const Arrays own{{"scores", torch::tensor({infinity, 3.0, 4.0, -infinity})},
                   {"members", torch::tensor({1, 1, 0, 0})}};
  shop.npz("f.npz", own);
  auto row = shop.scored("f.npz")["scores"];
  EXPECT_EQ(row["auc"], "0.75");
  for (const auto* column : {"advantage", "train_accuracy", "test_accuracy", "p1"})
    EXPECT_EQ(row[column], "") << column;
  shop.npz("f.npz", shadowed(own, {{"scores", torch::tensor({5.0, 4.0, 1.0, 3.0})},
                                   {"members", torch::tensor({1, 1, 0, 0})}}));
  EXPECT_EQ(shop.scored("f.npz")["scores"]["advantage"], "0");  // 1 of 2 members, 1 of 2 others
  shop.npz("f.npz", with(four(), "scores", torch::tensor({4, 3, 2, 1})));
  auto rows = shop.scored("f.npz");
  EXPECT_EQ(rows["scores"]["auc"], "1");
  EXPECT_EQ(rows["loss"]["auc"], "0.75");
}

TEST(Score, BoundsEpsilonAtTheDeltaAskedFor) {
  const ScoreShop shop;
  std::vector<double> scores;
  std::vector<uint8_t> member;
  for (int i = 0; i < 200; ++i) {
    scores.push_back(i);
    member.push_back(i >= 90 ? 1 : 0);
  }
  shop.npz("f.npz", {{"scores", torch::tensor(scores)}, {"members", torch::tensor(scores).ge(90)}});
  for (const auto* delta : {"1e-05", "0.2"}) {
    EXPECT_EQ(shop.scored("f.npz", {"--delta", delta})["scores"]["epsilon_low"],
              fmt::format("{}", epsilon_low(scores, member, std::stod(delta), 0)));
    EXPECT_TRUE(shop.says(
        fmt::format("epsilon_low (at delta {}) takes records as independent draws", delta)));
  }
}

TEST(Score, ReadsTheExampleOfTheDocumentation) {
  const ScoreShop shop;
  const auto output = shop.imprint(
      {"score", IMPRINT_SOURCE "/docs/outputs.csv", "--out", shop.at("runs").string()});
  EXPECT_EQ(output.code, 0) << output.err;
  EXPECT_GT(std::stod(shop.rows()["loss"]["auc"]), 0.6);
}

TEST(ScoreRefuses, NamesThatItDoesNotKnow) {
  const ScoreShop shop;
  const std::string arrays =
      " (arrays: logits, probabilities, scores, labels, members, shadow_logits, "
      "shadow_probabilities, shadow_scores, shadow_labels, shadow_members)";
  EXPECT_EQ(shop.refused(with(four(), "lables", torch::zeros({4}))),
            "f.npz: unknown array 'lables'; did you mean 'labels'?" + arrays);
  EXPECT_EQ(shop.refused(with(four(), "shadow_logit", torch::zeros({4}))),
            "f.npz: unknown array 'shadow_logit'; did you mean 'shadow_logits'?" + arrays);
  EXPECT_EQ(shop.refused(with(four(), "features", torch::zeros({4}))),
            "f.npz: unknown array 'features'" + arrays);
}

TEST(ScoreRefuses, ArraysThatAreMissingOrTooMany) {
  const ScoreShop shop;
  EXPECT_EQ(shop.refused(without(four(), "logits")),
            "f.npz: has no outputs of a model: neither array 'logits' nor array 'probabilities' "
            "nor array 'scores'");
  EXPECT_EQ(shop.refused(with(four(), "probabilities", torch::zeros({4, 2}))),
            "f.npz: has both array 'logits' and array 'probabilities'; give one of them");
  EXPECT_EQ(shop.refused(without(four(), "labels")),
            "f.npz: has no array 'labels', the true classes of the records");
  EXPECT_EQ(shop.refused(without(four(), "members")),
            "f.npz: has no array 'members': 1 for records that the model was trained on, 0 for "
            "others");
}

TEST(ScoreRefuses, ShapesThatDoNotFit) {
  const ScoreShop shop;
  const std::string expected =
      "; expected [n, classes] with at least two classes (of a network with one output: 0 and that "
      "output)";
  EXPECT_EQ(shop.refused(with(four(), "logits", torch::zeros({4}))),
            "f.npz: array 'logits' has the shape [4]" + expected);
  EXPECT_EQ(shop.refused(with(four(), "logits", torch::zeros({4, 1}))),
            "f.npz: array 'logits' has the shape [4, 1]" + expected);
  EXPECT_EQ(shop.refused(with(four(), "logits", torch::zeros({0, 2}))),
            "f.npz: array 'logits' is empty");
  EXPECT_EQ(shop.refused(with(four(), "logits", torch::tensor(1.0))),
            "f.npz: array 'logits' is a single value, expected one for each record");
  EXPECT_EQ(shop.refused(with(four(), "labels", torch::zeros({3}))),
            "f.npz: array 'labels' is about 3 records, array 'logits' about 4");
  EXPECT_EQ(shop.refused(with(four(), "members", torch::zeros({5}))),
            "f.npz: array 'members' is about 5 records, array 'logits' about 4");
  EXPECT_EQ(shop.refused(with(four(), "labels", torch::zeros({4, 2}))),
            "f.npz: array 'labels' has the shape [4, 2]; expected [n]");
}

TEST(ScoreRefuses, ValuesThatMakeNoSense) {
  const ScoreShop shop;
  EXPECT_EQ(shop.refused(four({3, NAN, 2, -1})),
            "f.npz: logits[1, 0]: nan is no finite logit; has the training diverged?");
  EXPECT_EQ(shop.refused(four({3, 1, 2, -INFINITY})),
            "f.npz: logits[3, 0]: -inf is no finite logit; has the training diverged?");
  EXPECT_EQ(shop.refused(with(four(), "labels", torch::tensor({0, 1, 2, 0}))),
            "f.npz: labels[2]: 2 is no class; with 2 classes they are 0 to 1");
  EXPECT_EQ(shop.refused(with(four(), "labels", torch::tensor({0.0, 0.5, 0.0, 1.0}))),
            "f.npz: labels[1]: 0.5 is no class; with 2 classes they are 0 to 1");
  EXPECT_EQ(shop.refused(with(four(), "members", torch::tensor({0, 1, 2, 0}))),
            "f.npz: members[2]: 2 is neither 1 (a member) nor 0");
  EXPECT_EQ(shop.refused(with(four(), "members", torch::ones({4}))),
            "f.npz: array 'members' is 1 for all 4 records; both members and non-members are "
            "needed");
  EXPECT_EQ(shop.refused(with(four(), "members", torch::zeros({4}))),
            "f.npz: array 'members' is 0 for all 4 records; both members and non-members are "
            "needed");
  EXPECT_EQ(shop.refused(with(four(), "scores", torch::tensor(std::vector<double>{1, 2, NAN, 3}))),
            "f.npz: scores[2]: nan is no score; every record needs one, if need be an infinite "
            "one");
}

TEST(ScoreRefuses, WhatAreNoProbabilities) {
  const ScoreShop shop;
  const auto of = [&](const Tensor& p) {
    return with(without(four(), "logits"), "probabilities", p);
  };
  EXPECT_EQ(shop.refused(of(four().at("logits"))),
            "f.npz: probabilities[0, 0]: 3 is no probability; logits go into array 'logits'");
  EXPECT_EQ(shop.refused(of(torch::full({4, 2}, 0.25))),
            "f.npz: probabilities[0]: 0.5 is the sum of this record's probabilities; expected 1");
}

TEST(ScoreRefuses, FilesThatItCannotRead) {
  ScoreShop shop;
  EXPECT_EQ(shop.refused("f.npz"), "f.npz: cannot be read: No such file or directory");
  EXPECT_EQ(shop.refused("f.csv"), "f.csv: cannot be read: No such file or directory");
  shop.write("f.txt", "0");
  EXPECT_EQ(shop.refused("f.txt"),
            "f.txt: outputs are read from files whose names end in .npz or .csv");
  shop.write("f.npz", "");
  EXPECT_EQ(shop.refused("f.npz"), "f.npz: is no zip file, or truncated: it has no directory");
  EXPECT_EQ(shop.refused_csv(""), "f.csv: is empty; the first line must name the columns");
}

TEST(ScoreRefuses, ArraysThatAreThereTwice) {
  IMPRINT_NEEDS_PYTHON();
  const ScoreShop shop;
  const auto made = run_python(R"(
import sys, warnings, zipfile
warnings.simplefilter('ignore')
with zipfile.ZipFile(sys.argv[1], 'w') as file:
    for _ in range(2): file.writestr('logits.npy', b'')
)",
                               {shop.at("f.npz").string()});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(shop.refused("f.npz"), "f.npz: damaged: 'logits.npy' is in it twice");
}

TEST(ScoreRefuses, ColumnsOfATableWithTheirPlace) {
  ScoreShop shop;
  const std::string columns =
      " (columns: label, member, score, logit_0, logit_1, ..., p_0, p_1, ...)";
  EXPECT_EQ(shop.refused_csv("member,lable,p_0,p_1\n"),
            "f.csv:1:8: unknown column 'lable'; did you mean 'label'?" + columns);
  EXPECT_EQ(shop.refused_csv("member,label,logit_00,logit_1\n"),
            "f.csv:1:14: unknown column 'logit_00'; did you mean 'logit_0'?" + columns);
  EXPECT_EQ(shop.refused_csv("0,1,2,1\n"), "f.csv:1:1: unknown column '0'" + columns);
  EXPECT_EQ(shop.refused_csv("member,label,p_0,label\n"),
            "f.csv:1:18: there are two columns 'label'");
  EXPECT_EQ(shop.refused_csv("member,label,p_0,p_2\n1,0,1,0\n"), "f.csv: has p_2, but no p_1");
  EXPECT_EQ(shop.refused_csv("member,label\n1,0\n"),
            "f.csv: has no outputs of a model: neither column 'logit_0' nor column 'p_0' nor "
            "column 'score'");
  EXPECT_EQ(shop.refused_csv("label,logit_0,logit_1\n0,1,2\n"),
            "f.csv: has no column 'member': 1 for records that the model was trained on, 0 for "
            "others");
}

TEST(ScoreRefuses, CellsOfATableWithTheirPlace) {
  ScoreShop shop;
  const std::string good = "label,member,logit_0,logit_1\n0,1,2,1\n";
  EXPECT_EQ(shop.refused_csv("label,member,logit_0,logit_1\n"),
            "f.csv: holds no records, only names of columns");
  EXPECT_EQ(shop.refused_csv(good + "1,0,1\n"), "f.csv:3: has 3 cells, the header names 4 columns");
  EXPECT_EQ(shop.refused_csv(good + "1,0,x,1\n"), "f.csv:3:5: 'x' is no number");
  EXPECT_EQ(shop.refused_csv(good + "1,yes,1,1\n"), "f.csv:3:3: 'yes' is no number");
  EXPECT_EQ(shop.refused_csv(good + "1,0,1,NaN\n"),
            "f.csv:3:7: nan is no finite logit; has the training diverged?");
  EXPECT_EQ(shop.refused_csv(good + "1,0, 1e999,0\n"),
            "f.csv:3:6: inf is no finite logit; has the training diverged?");
  EXPECT_EQ(shop.refused_csv(good + "2,0,1,0\n"),
            "f.csv:3:1: 2 is no class; with 2 classes they are 0 to 1");
  EXPECT_EQ(shop.refused_csv(good + "1,2,1,0\n"), "f.csv:3:3: 2 is neither 1 (a member) nor 0");
  EXPECT_EQ(shop.refused_csv(good + "1,1,1,0\n"),
            "f.csv: column 'member' is 1 for all 2 records; both members and non-members are "
            "needed");
  EXPECT_EQ(shop.refused_csv("label,member,p_0,p_1\n0,1,0.5,0.5\n1,0,0.5,0.25\n"),
            "f.csv:3:5: 0.75 is the sum of this record's probabilities; expected 1");
}

TEST(ScoreRefuses, ShadowsThatAreOfNoUse) {
  const ScoreShop shop;
  EXPECT_EQ(shop.refused(with(four(), "shadow_logits", torch::zeros({4, 2}))),
            "f.npz: has no array 'shadow_labels', the true classes of the records");
  EXPECT_EQ(shop.refused(shadowed(four(), forty(0))),
            "f.npz: the shadow has 3 classes, the model itself 2");
  const Arrays scores{{"scores", torch::arange(4)}, {"members", torch::tensor({0, 1, 0, 1})}};
  EXPECT_EQ(shop.refused(shadowed(four(), scores)),
            "f.npz: the shadow has scores only; logits or probabilities are needed, as of the "
            "model itself");
  EXPECT_EQ(shop.refused(shadowed(scores, four())),
            "f.npz: the shadow has no scores, and of the model itself there are only scores");
  shop.npz("f.npz", shadowed(four(), four()));
  shop.npz("other.npz", four());
  const auto other = shop.at("other.npz").string(), self = shop.at("f.npz").string();
  EXPECT_EQ(shop.refused("f.npz", {"--shadow", other}),
            "f.npz: has shadow_labels, and --shadow names another shadow; give one of them");
  EXPECT_EQ(shop.refused("other.npz", {"--shadow", self}),
            "f.npz: unknown array 'shadow_labels' (arrays: logits, probabilities, scores, labels, "
            "members)");
}

}  // namespace
}  // namespace imprint::score_test
