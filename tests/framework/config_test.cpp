#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "framework/config/digest.h"
#include "framework/config/keys.h"
#include "framework/config/load.h"
#include "tests/support/process.h"

namespace imprint::config_test {
namespace {

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "(accepted)";
}

std::string refused_yaml(const std::string& text) {
  return refusal([&] { parse_yaml(text, "f.yaml"); });
}

// A folder of experiment files that load each other.
class Files {
 public:
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_.path() / name, std::ios::binary) << text;
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string loaded(const std::string& name,
                     const std::vector<std::string>& overrides = {}) const {
    return to_flow(load_experiment_file(path(name), overrides));
  }
  /// The message, without the folder's name.
  std::string refused(const std::string& name,
                      const std::vector<std::string>& overrides = {}) const {
    auto text = refusal([&] { load_experiment_file(path(name), overrides); });
    const auto prefix = folder_.path().string() + "/";
    for (size_t at = 0; (at = text.find(prefix)) != std::string::npos;)
      text.erase(at, prefix.size());
    return text;
  }

 private:
  TempFolder folder_;
};

TEST(Yaml, KeepsOrderPlacesAndQuotes) {
  const auto root = parse_yaml("b: 1\na: [x, \"2\"]\n", "f.yaml");
  ASSERT_EQ(root.entries.size(), 2U);
  EXPECT_EQ(root.entries[0].key, "b");
  EXPECT_EQ(root.find("a")->items[1].mark.prefix(), "f.yaml:2:8: ");
  EXPECT_TRUE(root.find("a")->items[1].quoted);
  EXPECT_EQ(to_flow(root), "{b: 1, a: [x, \"2\"]}");
}

TEST(Yaml, RefusesDuplicateKeys) {
  EXPECT_EQ(refused_yaml("a: 1\nb: 2\na: 3\n"),
            "f.yaml:3:1: duplicate key 'a' (its first value is at 1:4)");
}

TEST(Yaml, RefusesCyclicAliases) {
  EXPECT_EQ(refused_yaml("a: &x [1, *x]\n"),
            "f.yaml:1:11: this alias stands inside what it refers to");
  EXPECT_EQ(refused_yaml("a: &x {b: *x}\n"),
            "f.yaml:1:11: this alias stands inside what it refers to");
}

TEST(Yaml, CopiesAliases) {
  EXPECT_EQ(to_flow(parse_yaml("a: &x {b: 1}\nc: *x\n", "")), "{a: {b: 1}, c: {b: 1}}");
}

TEST(Yaml, RefusesAliasBombsQuickly) {
  std::string bomb = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (int i = 1; i < 12; ++i) {
    bomb += fmt::format("a{}: &a{} [", i, i);
    for (int j = 0; j < 10; ++j) bomb += fmt::format("*a{}{}", i - 1, j < 9 ? ", " : "]\n");
  }
  EXPECT_NE(refused_yaml(bomb).find("more than 200000 values, aliases included"),
            std::string::npos);
}

TEST(Yaml, RefusesTabsTruncationAndEmptiness) {
  EXPECT_EQ(refused_yaml("a:\n\tb: 1\n"), "f.yaml:2:1: a tab cannot indent YAML; use spaces");
  EXPECT_EQ(refused_yaml("a: {b: 1\n"), "f.yaml:2:1: a '{' is never closed with '}'");
  EXPECT_EQ(refused_yaml("a: [b, 1\n"), "f.yaml:2:1: a '[' is never closed with ']'");
  EXPECT_EQ(refused_yaml(""),
            "f.yaml:1:1: the file is empty; expected keys such as name, data, model, train");
  EXPECT_EQ(refused_yaml("# only a comment\n"),
            "f.yaml:1:1: the file is empty; expected keys such as name, data, model, train");
  EXPECT_EQ(refused_yaml(std::string("a: \0", 4)),
            "f.yaml:1:4: not a text file (it contains a zero byte)");
  EXPECT_EQ(refused_yaml("a: 1\nb: \xe9\n"),
            "f.yaml:2:4: not a text file (it contains bytes that are not UTF-8)");
  EXPECT_EQ(refused_yaml("a: 1\nb: " + std::string(2'000'000, 'x') + "\n"),
            "f.yaml:2:1: this line has more than a million bytes");
}

TEST(Yaml, RefusesUnknownTagsAndSecondDocuments) {
  EXPECT_EQ(refused_yaml("a: !sweeep [1, 2]\n"),
            "f.yaml:1:4: unknown tag '!sweeep' (tags: !sweep)");
  EXPECT_EQ(refused_yaml("a: !x 1\n"), "f.yaml:1:4: unknown tag '!x' (tags: !sweep on a list)");
  EXPECT_EQ(refused_yaml("a: 1\n---\nb: 2\n"),
            "f.yaml:3:1: a second YAML document ('---'); an experiment is one document");
}

TEST(Yaml, ReportsAllProblemsAtOnce) {
  EXPECT_EQ(refused_yaml("a: 1\na: 2\nb: !x 1\n"),
            "f.yaml:2:1: duplicate key 'a' (its first value is at 1:4)\n"
            "f.yaml:3:4: unknown tag '!x' (tags: !sweep on a list)");
}

TEST(Yaml, SurvivesDeepNesting) {
  EXPECT_NE(refused_yaml(std::string(5000, '[') + std::string(5000, ']')).find("f.yaml:1:"),
            std::string::npos);
}

TEST(Yaml, WritesWhatItReadsBack) {
  const std::string text =
      "name: x\nlist: [1, two, \"3\"]\nmap:\n  deep: {a: -1.5, b: null}\n  odd: \"a: b # c\"\n"
      "points:\n- {name: ccl, alpha: !sweep [0.1, 0.2]}\n- [{name: a}, {name: b}]\n";
  const auto root = parse_yaml(text, "");
  EXPECT_EQ(to_flow(parse_yaml(to_yaml(root), "")), to_flow(root));
}

TEST(Load, MergesBaseFilesAndReplacesLists) {
  Files files;
  files.write("base.yaml",
              "name: base\ntrain: {epochs: 5, batch: 8}\nattacks: [a, b]\nmodel: {name: mlp, "
              "hidden: [4]}\n");
  files.write(
      "leaf.yaml",
      "name: leaf\nbase: base.yaml\ntrain: {epochs: 7}\nattacks: [c]\nmodel: {name: linear}\n");
  EXPECT_EQ(files.loaded("leaf.yaml"),
            "{train: {epochs: 7, batch: 8}, attacks: [c], model: {name: linear}, name: leaf}");
}

TEST(Load, OverridesFromTheCommandLine) {
  Files files;
  files.write("f.yaml", "train: {epochs: 5}\ndefenses: [{name: none}, {name: ccl, alpha: 0.5}]\n");
  EXPECT_EQ(files.loaded("f.yaml", {"train.epochs=9", "defenses[1].alpha=0.2,0.4", "seeds=[1, 2]",
                                    "train.optimizer.lr=1"}),
            "{train: {epochs: 9, optimizer: {lr: 1}}, defenses: [{name: none}, {name: ccl, alpha: "
            "!sweep [0.2, 0.4]}], "
            "seeds: [1, 2]}");
}

TEST(Load, PutsOneBaseOnTopOfTheOther) {
  Files files;
  files.write("claims.yaml", "name: claims\nseeds: 1\nexpect: [a]\n");
  files.write("ground.yaml", "seeds: 3\ntrain: {epochs: 5, batch: 10}\n");
  files.write("f.yaml", "base: [claims.yaml, ground.yaml]\ntrain: {epochs: 7}\n");
  EXPECT_EQ(files.loaded("f.yaml"),
            "{name: claims, seeds: 3, expect: [a], train: {epochs: 7, batch: 10}}");
  files.write("g.yaml", "base: []\n");
  EXPECT_EQ(files.refused("g.yaml"),
            "g.yaml:1:7: base must be the path of a file, or a list of paths");
}

TEST(Load, RefusesBadOverrides) {
  Files files;
  files.write("f.yaml", "train: {epochs: 5}\ndefenses: [a]\n");
  EXPECT_EQ(files.refused("f.yaml", {"epochs"}),
            "command line 'epochs': expected key=value, such as train.epochs=5");
  EXPECT_EQ(files.refused("f.yaml", {"defenses[3].x=1"}),
            "command line 'defenses[3].x=1': 'defenses[3].x': 'defenses' has 1 items, no [3]");
  EXPECT_EQ(files.refused("f.yaml", {"train.epochs.deep=1"}),
            "command line 'train.epochs.deep=1': 'train.epochs.deep' leads through a value that "
            "has no keys, at 'deep'");
  EXPECT_EQ(files.refused("f.yaml", {"train..x=1"}),
            "command line 'train..x=1': 'train..x' is not a path; write a.b or a[0].b");
  EXPECT_EQ(files.refused("f.yaml", {"base=g.yaml"}),
            "command line 'base=g.yaml': base stands in a file; it cannot be given here");
  EXPECT_EQ(files.refused("f.yaml", {"a=[1"}), "command line 'a=[1': '[1' is not a YAML value");
}

TEST(Load, RefusesMissingFilesFoldersAndCycles) {
  Files files;
  files.write("f.yaml", "base: nowhere.yaml\n");
  files.write("g.yaml", "base: h.yaml\n");
  files.write("h.yaml", "base: g.yaml\n");
  files.write("list.yaml", "- 1\n");
  EXPECT_EQ(files.refused("f.yaml"),
            "f.yaml:1:7: cannot read 'nowhere.yaml': No such file or directory");
  EXPECT_EQ(files.refused("none.yaml"), "cannot read 'none.yaml': No such file or directory");
  EXPECT_EQ(files.refused("g.yaml"),
            "h.yaml:1:7: 'g.yaml' is its own base file, through a cycle of 2");
  EXPECT_EQ(files.refused("."), "'.' is a folder, not a file");
  EXPECT_EQ(files.refused("list.yaml"),
            "list.yaml:1:1: an experiment file is a map of keys such as name, data, model");
}

TEST(Sweep, AxesOfOneNodeMultiplyAndTheFirstIsSlowest) {
  const auto variants = expand_sweeps(parse_yaml("{a: !sweep [1, 2], b: {c: !sweep [x, y]}}", ""));
  ASSERT_EQ(variants.size(), 4U);
  EXPECT_EQ(to_flow(variants[1].value), "{a: 1, b: {c: y}}");
  EXPECT_EQ(to_flow(variants[2].value), "{a: 2, b: {c: x}}");
  EXPECT_EQ(variants[2].choices[1].first, "b.c");
}

TEST(Sweep, RefusesAnEmptyList) {
  EXPECT_EQ(refusal([] { expand_sweeps(parse_yaml("{a: !sweep []}", "f.yaml")); }),
            "f.yaml:1:5: an empty !sweep; list its values");
}

// What a component with one key of each kind says to a map.
std::string read_all(const std::string& yaml) {
  const auto value = parse_yaml(yaml, "f.yaml");
  return refusal([&] {
    Problems problems;
    Keys keys(value, new_reading("defense 'x'", problems));
    [[maybe_unused]] const double alpha = keys.number("alpha", 0.5).within(0, 1);
    [[maybe_unused]] const int64_t epoch = keys.integer("epoch", 3).at_least(1);
    [[maybe_unused]] const bool on = keys.flag("on", true);
    [[maybe_unused]] const std::string word = keys.choice("word", {"one", "two"});
    [[maybe_unused]] const std::vector<double> list = keys.numbers("list", {}).above(0);
    [[maybe_unused]] const double lr = keys.section("inner").number("lr", 1);
    keys.finish();
    problems.raise();
  });
}

TEST(Keys, AcceptsWhatFits) {
  EXPECT_EQ(
      read_all("{alpha: 1e-1, epoch: 1e3, on: false, word: two, list: [1, 2.5], inner: {lr: 2}}"),
      "(accepted)");
}

TEST(Keys, RefusesWithTheExactMessage) {
  EXPECT_EQ(read_all("{alpha: 1.5}"), "f.yaml:1:9: alpha must be between 0 and 1, not 1.5");
  EXPECT_EQ(read_all("{alpha: .nan}"), "f.yaml:1:9: alpha must be a finite number, not nan");
  EXPECT_EQ(read_all("{alpha: .inf}"), "f.yaml:1:9: alpha must be a finite number, not inf");
  EXPECT_EQ(read_all("{alpha: 1e999}"), "f.yaml:1:9: alpha must be a finite number, not inf");
  EXPECT_EQ(read_all("{alpha: half}"), "f.yaml:1:9: alpha must be a number, not half");
  EXPECT_EQ(read_all("{alpha: \"0.5\"}"), "f.yaml:1:9: alpha must be a number, not \"0.5\"");
  EXPECT_EQ(read_all("{alpha: }"), "f.yaml:1:9: alpha must be a number, not empty");
  EXPECT_EQ(read_all("{alpha: [1]}"), "f.yaml:1:9: alpha must be a number, not [1]");
  EXPECT_EQ(read_all("{epoch: 1.5}"), "f.yaml:1:9: epoch must be an integer, not 1.5");
  EXPECT_EQ(read_all("{epoch: 0}"), "f.yaml:1:9: epoch must be at least 1, not 0");
  EXPECT_EQ(read_all("{on: 3}"), "f.yaml:1:6: on must be true or false, not 3");
  EXPECT_EQ(read_all("{word: tow}"),
            "f.yaml:1:8: word must be one of one, two, not 'tow'; did you mean 'two'?");
  EXPECT_EQ(read_all("{list: [1, 0]}"), "f.yaml:1:8: each of list must be above 0, not 0");
  EXPECT_EQ(read_all("{list: 1}"), "f.yaml:1:8: list must be a list of numbers, not 1");
  EXPECT_EQ(read_all("{inner: 3}"), "f.yaml:1:9: inner must be a map of keys, not 3");
  EXPECT_EQ(
      read_all("{inner: {rl: 3}}"),
      "f.yaml:1:10: unknown key 'rl' in 'inner' of defense 'x'; did you mean 'lr'? (keys: lr)");
  EXPECT_EQ(read_all("{alhpa: 1}"),
            "f.yaml:1:2: unknown key 'alhpa' in defense 'x'; did you mean 'alpha'? (keys: alpha, "
            "epoch, inner, list, on, word)");
}

TEST(Keys, ReportsEveryProblemOfAMap) {
  EXPECT_EQ(
      read_all("{alpha: 2, epoch: 0, zzz: 1}"),
      "f.yaml:1:9: alpha must be between 0 and 1, not 2\nf.yaml:1:19: epoch must be at least 1, "
      "not 0\n"
      "f.yaml:1:22: unknown key 'zzz' in defense 'x' (keys: alpha, epoch, inner, list, on, word)");
}

TEST(Keys, AddressIsCanonicalAndLeavesLateKeysOut) {
  const auto address = [](const std::string& yaml, bool late) {
    const auto value = parse_yaml(yaml, "");
    Problems problems;
    auto log = new_reading("x", problems);
    Keys keys(value, log);
    [[maybe_unused]] const double a = keys.number("a", 1);
    [[maybe_unused]] const int64_t b = keys.integer("b", 2).late();
    return log->address(late);
  };
  EXPECT_EQ(address("{a: 0.10}", true), address("{a: 1e-1, b: 2}", true));
  EXPECT_EQ(address("{b: 7}", false), address("{b: 8}", false));
  EXPECT_NE(address("{b: 7}", true), address("{b: 8}", true));
  EXPECT_NE(address("{a: 7}", false), address("{a: 8}", false));
}

TEST(Digest, IsTheSameWithAndWithoutInstructionsForIt) {
  std::string text;
  for (int i = 0; i < 300; ++i) {
    text += static_cast<char>(i * 37);
    EXPECT_EQ(Sha256().add(text).hex(), Sha256::portable().add(text).hex()) << i;
  }
}

TEST(Digest, IsSha256) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  EXPECT_NE(Sha256().field("ab").field("c").hex(), Sha256().field("a").field("bc").hex());
}

}  // namespace
}  // namespace imprint::config_test
