// Rules of the house that the compiler does not know.
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include "framework/config/load.h"
#include "tests/support/fixtures.h"
#include "tests/support/process.h"

namespace imprint::house_test {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> sources_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(IMPRINT_SOURCE) / folder))
    if (entry.path().extension() == ".cpp" || entry.path().extension() == ".h")
      files.push_back(entry.path());
  return files;
}

std::set<std::string> stems_in(const fs::path& folder) {
  std::set<std::string> stems;
  for (const auto& file : sources_in(folder)) stems.insert(file.stem().string());
  return stems;
}

template <class RegistryType>
std::set<std::string> names() {
  const auto all = RegistryType::instance().names();
  return {all.begin(), all.end()};
}

TEST(House, RegistriesHoldExactlyTheFilesOfTheirFolders) {
  EXPECT_EQ(names<AttackRegistry>(), stems_in("attacks"));
  EXPECT_EQ(names<DefenseRegistry>(), stems_in("defenses"));
  EXPECT_EQ(names<ModelRegistry>(), stems_in("models"));
  EXPECT_EQ(names<SourceRegistry>(), stems_in("framework/datasets"));
  EXPECT_EQ(names<MeasureRegistry>(), stems_in("framework/measures"));
  EXPECT_TRUE(duplicate_registrations().empty());
}

TEST(House, EveryComponentRecordsItsSource) {
  for (const auto& [name, item] : DefenseRegistry::instance().items()) {
    EXPECT_EQ(item.about.file, "defenses/" + name + ".cpp");
    EXPECT_EQ(item.about.digest().size(), 64U) << name;
  }
  EXPECT_EQ(source_digest("no/such/file.cpp").substr(0, 11), "unrecorded ");
  EXPECT_NE(folder_digest("framework/training"), folder_digest("framework/data"));
}

TEST(House, EveryComponentHasAnExample) {
  const auto examples = [](const std::string& kind, const std::set<std::string>& components) {
    for (const auto& name : components)
      EXPECT_TRUE(fs::exists(fs::path(IMPRINT_SOURCE) / "configs" / kind / (name + ".yaml")))
          << kind << "/" << name;
  };
  examples("attacks", names<AttackRegistry>());
  examples("defenses", names<DefenseRegistry>());
  examples("models", names<ModelRegistry>());
  examples("datasets", names<SourceRegistry>());
  examples("measures", names<MeasureRegistry>());
}

TEST(House, ComponentsAreFreeOfDevicesAndRawPointers) {
  const std::regex forbidden(
      R"(kCPU|kCUDA|data_ptr|\.cpu\(\)|torch/torch\.h|using namespace torch)");
  for (const auto* folder : {"attacks", "defenses", "models", "framework/measures"})
    for (const auto& file : sources_in(folder))
      EXPECT_FALSE(std::regex_search(file_text(file), forbidden)) << file;
}

TEST(House, ComponentsIncludeTheFrameworkOnly) {
  const std::regex ours(R"re(#include "([^"]+)")re");
  for (const auto* folder :
       {"attacks", "defenses", "models", "framework/measures", "framework/datasets"}) {
    for (const auto& file : sources_in(folder)) {
      const auto text = file_text(file);
      for (std::sregex_iterator it(text.begin(), text.end(), ours), end; it != end; ++it) {
        const std::string included = (*it)[1];
        EXPECT_TRUE(std::regex_match(
            included, std::regex("framework/(config|registry|data|training|privacy)/.*")))
            << file << " includes " << included;
      }
    }
  }
}

TEST(House, FrameworkFoldersUseOnlyThoseAboveThem) {
  const std::vector<std::string> order{"config",  "registry", "data",    "training",
                                       "privacy", "runs",     "reports", "cli"};
  const std::regex ours(R"re(#include "framework/([a-z]+)/)re");
  for (size_t i = 0; i < order.size(); ++i) {
    const std::set<std::string> allowed(order.begin(),
                                        order.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    for (const auto& file : sources_in("framework/" + order[i])) {
      const auto text = file_text(file);
      for (std::sregex_iterator it(text.begin(), text.end(), ours), end; it != end; ++it)
        EXPECT_TRUE(allowed.contains((*it)[1])) << file << " includes framework/" << (*it)[1];
    }
  }
}

TEST(House, SourceDigestsIgnoreCommentsAndWhiteSpaceOnly) {
  const TempFolder folder;
  const auto digest = [&](const std::string& text) {
    std::ofstream(folder.path() / "a.cpp") << text;
    const auto out = folder.path() / "out.cpp";
    const auto result =
        run_process({IMPRINT_BUILD "/digest_sources", out.string(), folder.path().string(), "",
                     (folder.path() / "a.cpp").string()});
    EXPECT_EQ(result.code, 0) << result.err;
    return file_text(out);
  };
  const auto plain = digest("int f(int a) { return a + 1'000; }  // why\n");
  EXPECT_EQ(plain, digest("/* what */ int f(int a)\n{\n  return a+1'000;\n}\n"));
  EXPECT_NE(plain, digest("int f(int a) { return a + 1'001; }\n"));
  EXPECT_NE(digest("auto s = \"a  b\";"), digest("auto s = \"a b\";"));
  EXPECT_NE(digest("auto s = \"// no comment\";"), digest("auto s = \"\";"));
  EXPECT_EQ(digest("auto s = R\"(// \" raw)\"; // end"), digest("auto s =R\"(// \" raw)\";"));
  EXPECT_NE(digest("int ab;"), digest("int a b;"));
}

}  // namespace
}  // namespace imprint::house_test
