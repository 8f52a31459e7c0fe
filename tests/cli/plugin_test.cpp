// A plugin built out of tree against the installed package, and the files that `imprint new`
// writes.
#include <filesystem>
#include <fstream>

#include "tests/support/fixtures.h"
#include "tests/support/process.h"

namespace imprint::plugin_test {
namespace {

namespace fs = std::filesystem;

void expect_success(const std::vector<std::string>& command) {
  const auto output = run_process(command);
  ASSERT_EQ(output.code, 0) << joined(command, " ") << "\n" << output.out << output.err;
}

// The package installed into a folder of its own.
fs::path installed() {
  static const TempFolder prefix;
  if (!fs::exists(prefix.path() / "lib"))
    expect_success({"cmake", "--install", IMPRINT_BUILD, "--prefix", prefix.path()});
  return prefix.path();
}

void build_plugin(const fs::path& source) {
  const auto build = source / "build";
  if (!fs::exists(build))
    expect_success({"cmake", "-S", source, "-B", build, "-G", "Ninja",
                    "-DCMAKE_PREFIX_PATH=" + installed().string()});
  expect_success({"cmake", "--build", build});
}

TEST(Plugin, IsBuiltOutOfTreeLoadedAndAddressedByItsCode) {
  const TempFolder folder;
  const auto source = folder.path() / "top_two";
  fs::copy(fs::path(IMPRINT_SOURCE) / "tests/plugin", source);
  ASSERT_NO_FATAL_FAILURE(build_plugin(source));
  const auto plugin = (source / "build/top_two.so").string();
  std::ofstream(folder.path() / "f.yaml")
      << "base: " IMPRINT_SOURCE "/configs/base/tiny.yaml\nplugins: [" << plugin
      << "]\nattacks: [loss, top_two]\n";
  const auto run = [&] {
    const auto output = run_process({IMPRINT_PROGRAM, "run", folder.path() / "f.yaml", "--out",
                                     folder.path() / "runs", "--store", folder.path() / "store"});
    EXPECT_EQ(output.code, 0) << output.err;
    return output.err;
  };
  run();
  EXPECT_NE(file_text(folder.path() / "runs/latest/results.csv").find(",top_two,"),
            std::string::npos);
  EXPECT_NE(
      run_process({IMPRINT_PROGRAM, "list", "attacks", "--plugin", plugin}).out.find("top_two"),
      std::string::npos);

  // A comment changes no address; code changes exactly the jobs that use it.
  const auto text = file_text(source / "top_two.cpp");
  std::ofstream(source / "top_two.cpp") << "// another comment\n" << text;
  ASSERT_NO_FATAL_FAILURE(build_plugin(source));
  EXPECT_NE(run().find("nothing to do"), std::string::npos);
  auto changed = text;
  const std::string what = "best.select(1, 0) - best.select(1, 1)";
  changed.replace(changed.find(what), what.size(), "2 * (" + what + ")");
  std::ofstream(source / "top_two.cpp") << changed;
  ASSERT_NO_FATAL_FAILURE(build_plugin(source));
  EXPECT_NE(run().find("1 to do, no training among them"), std::string::npos);
}

TEST(Plugin, IsRefusedWithTheReason) {
  const TempFolder folder;
  const auto junk = (folder.path() / "junk.so").string();
  std::ofstream(junk) << "no shared object";
  const auto refused = [](const std::string& path) {
    const auto output = run_process({IMPRINT_PROGRAM, "list", "--plugin", path});
    EXPECT_EQ(output.code, 2);
    return output.err;
  };
  EXPECT_NE(refused(junk).find("cannot be loaded"), std::string::npos);
  const auto other = refused("libz.so.1");
  EXPECT_NE(other.find("does not exist"), std::string::npos) << other;
}

TEST(New, WritesComponentsThatCompileAndPassAsTheyAre) {
  const TempFolder folder;
  const auto tree = folder.path() / "tree";
  for (const auto* part : {"framework/cli", "configs"}) fs::create_directories(tree / part);
  fs::copy(fs::path(IMPRINT_SOURCE) / "framework/cli/templates", tree / "framework/cli/templates",
           fs::copy_options::recursive);
  fs::copy(fs::path(IMPRINT_SOURCE) / "configs/base", tree / "configs/base");
  fs::create_directory_symlink(fs::path(IMPRINT_SOURCE) / "tests/support",
                               folder.path() / "support");
  const auto fresh = [&](const std::string& kind, const std::string& name) {
    return run_process({IMPRINT_PROGRAM, "new", kind, name}, {}, {"IMPRINT_HOME=" + tree.string()});
  };
  std::string sources, tests;
  for (const auto* kind : {"attack", "defense", "model", "dataset", "measure"}) {
    const auto output = fresh(kind, std::string("my_") + kind);
    ASSERT_EQ(output.code, 0) << output.err;
    EXPECT_EQ(std::count(output.out.begin(), output.out.end(), '\n'), 4) << output.out;
    const auto plural = std::string(kind) + "s";
    const auto home = kind == std::string("dataset") || kind == std::string("measure")
                          ? "framework/" + plural
                          : plural;
    sources += " " + home + "/my_" + kind + ".cpp";
    tests += " tests/" + plural + "/my_" + kind + "_test.cpp";
  }
  EXPECT_EQ(fresh("attack", "my_attack").err,
            "attacks/my_attack.cpp exists already; nothing was written\n");
  EXPECT_EQ(fresh("atack", "x").err,
            "there is no kind 'atack'; did you mean 'attack'? (kinds: attack, dataset, defense, "
            "measure, model)\n");
  EXPECT_EQ(fresh("attack", "My-Attack").err,
            "'My-Attack' is no name for a component; use lower_case_with_underscores\n");
  std::ofstream(tree / "CMakeLists.txt")
      << "cmake_minimum_required(VERSION 3.25)\nproject(Fresh CXX)\nset(CMAKE_UNITY_BUILD ON)\n"
         "find_package(Imprint REQUIRED)\nfind_package(GTest REQUIRED)\nimprint_plugin(fresh"
      << sources
      << ")\n"
         "add_executable(fresh_tests"
      << tests << " " IMPRINT_SOURCE "/tests/support/fixtures.cpp" << sources
      << " " IMPRINT_SOURCE "/framework/datasets/gaussian.cpp " IMPRINT_SOURCE
         "/models/mlp.cpp " IMPRINT_SOURCE
         "/defenses/none.cpp)\n"
         "target_include_directories(fresh_tests PRIVATE " IMPRINT_SOURCE
         ")\nset_target_properties(fresh_tests PROPERTIES CXX_STANDARD 20)\n"
         "target_compile_options(fresh_tests PRIVATE -Wall -Wextra -Werror -Wno-restrict)\n"
         "target_link_libraries(fresh_tests PRIVATE Imprint::framework GTest::gtest_main)\n";
  ASSERT_NO_FATAL_FAILURE(build_plugin(tree));
  const auto tested = run_process({tree / "build/fresh_tests"});
  EXPECT_EQ(tested.code, 0) << tested.out;
  EXPECT_NE(tested.out.find("[  PASSED  ] 10 tests."), std::string::npos) << tested.out;
  for (const auto* kind : {"attack", "defense", "model", "dataset", "measure"}) {
    const auto config =
        tree / "configs" / (std::string(kind) + "s") / (std::string("my_") + kind + ".yaml");
    const auto output =
        run_process({IMPRINT_PROGRAM, "run", config, "--plugin", tree / "build/fresh.so", "--out",
                     folder.path() / "runs", "--store", folder.path() / "store"});
    EXPECT_EQ(output.code, 0) << output.err;
  }
}

}  // namespace
}  // namespace imprint::plugin_test
