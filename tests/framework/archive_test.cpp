#include "framework/data/formats/archive.h"

#include <fmt/format.h>

#include <set>

#include "framework/config/problems.h"
#include "framework/data/formats/npz.h"
#include "tests/support/archives.h"
#include "tests/support/process.h"

namespace imprint::archive_test {
namespace {

namespace fs = std::filesystem;

std::string text_of(ByteSource& source) {
  std::string text;
  std::array<char, 1000> part{};
  while (const auto got = source.some(part.data(), part.size())) text.append(part.data(), got);
  return text;
}

/// A folder with archives in it and a folder to unpack to, which is not there at first.
class Warehouse {
 public:
  fs::path at(const std::string& name) const { return folder_.path() / name; }
  fs::path target() const { return at("target"); }

  fs::path tar(const std::string& entries) const {
    write_bytes(at("a.tar"), entries + tar_end());
    return at("a.tar");
  }
  fs::path tgz(const std::string& entries) const {
    write_bytes(at("a.tgz"), entries + tar_end(), true);
    return at("a.tgz");
  }
  fs::path zip(const std::vector<std::string>& names) const {
    NpzWriter writer(at("a.zip"));
    for (const auto& name : names) writer.add(name, std::vector<uint8_t>{1, 2, 3});
    writer.close();
    return at("a.zip");
  }

  /// The message that something fails with, file names without their folder.
  template <class Act>
  std::string refused(Act act) const {
    try {
      act();
    } catch (const ConfigError& error) {
      std::string text = error.what();
      const auto prefix = folder_.path().string() + "/";
      for (size_t at = 0; (at = text.find(prefix)) != std::string::npos;)
        text.erase(at, prefix.size());
      return text;
    }
    return "(accepted)";
  }
  std::string refused_extract(const fs::path& archive, const ArchiveLimit& limit = {}) const {
    return refused([&] { extract(archive, target(), limit); });
  }

  std::set<std::string> files_in_target() const {
    std::set<std::string> files;
    if (!fs::exists(target())) return {"(no folder)"};
    for (const auto& entry : fs::recursive_directory_iterator(target()))
      files.insert(entry.path().lexically_relative(target()).string());
    return files;
  }

 private:
  TempFolder folder_;
};

const std::set<std::string> kNoFolder{"(no folder)"};

TEST(Archive, ListsMembersOfEveryKind) {
  const Warehouse house;
  const auto entries = tar_entry("d/", "", '5', "", 0) + tar_file("d/a", "hello") +
                       tar_entry("l", "", '2', "d/a", 0) + tar_entry("p", "", '6', "", 0);
  for (const auto& file : {house.tar(entries), house.tgz(entries)}) {
    const auto members = list_members(file);
    ASSERT_EQ(members.size(), 4U);
    EXPECT_EQ(members[0].kind, Member::Kind::folder);
    EXPECT_EQ(members[1].name, "d/a");
    EXPECT_EQ(members[1].bytes, 5);
    EXPECT_EQ(members[1].kind, Member::Kind::file);
    EXPECT_EQ(members[2].kind, Member::Kind::link);
    EXPECT_EQ(members[3].kind, Member::Kind::other);
  }
  const auto zipped = list_members(house.zip({"x", "größe/z"}));
  ASSERT_EQ(zipped.size(), 2U);
  EXPECT_EQ(zipped[1].name, "größe/z.npy");
  EXPECT_EQ(zipped[1].bytes, 131);  // a header of 128 bytes, and three
}

TEST(Archive, StreamsOneMember) {
  const Warehouse house;
  std::string large;
  for (int i = 0; i < 300'000; ++i) large += std::to_string(i % 10007);
  const auto entries = tar_file("./first", "1") + tar_file("deep/down/large", large) +
                       tar_file("last", std::string(700, 'z'));
  for (const auto& file : {house.tar(entries), house.tgz(entries)}) {
    EXPECT_EQ(text_of(*open_member(file, "first")), "1");
    EXPECT_EQ(text_of(*open_member(file, "down/large")), large);
    EXPECT_EQ(text_of(*open_member(file, "outer/last")), std::string(700, 'z'));
    EXPECT_EQ(open_member(file, "last")->name(), file.string() + "(last)");
  }
  EXPECT_EQ(text_of(*open_member(house.zip({"x", "y"}), "y.npy")).substr(128), "\1\2\3");
  EXPECT_EQ(house.refused([&] { open_member(house.at("a.tgz"), "arge"); }),
            "a.tgz: has no member 'arge'");
}

TEST(Archive, KnowsAMemberByTheEndOfItsPath) {
  EXPECT_TRUE(is_member("texas/100/feats", "texas/100/feats"));
  EXPECT_TRUE(is_member("./100/feats", "texas/100/feats"));
  EXPECT_TRUE(is_member("old/texas/100/feats", "texas/100/feats"));
  EXPECT_FALSE(is_member("texas/10/feats", "texas/100/feats"));
  EXPECT_FALSE(is_member("00/feats", "texas/100/feats"));
  EXPECT_FALSE(is_member("", "bangkok"));
}

TEST(Archive, Extracts) {
  const Warehouse house;
  const auto entries = tar_entry("./", "", '5', "", 0) + tar_file("./a", "new") +
                       tar_file("b/c/d", "deep") + tar_entry("empty", "", '5', "", 0);
  const auto files = extract(house.tgz(entries), house.target());
  EXPECT_EQ(files, (std::vector<fs::path>{"a", "b/c/d"}));
  EXPECT_EQ(house.files_in_target(), (std::set<std::string>{"a", "b", "b/c", "b/c/d", "empty"}));
  EXPECT_EQ(file_text(house.target() / "b/c/d"), "deep");
  write_bytes(house.target() / "a", "older, and longer");
  write_bytes(house.target() / "other", "stays");
  extract(house.tar(entries), house.target());
  EXPECT_EQ(file_text(house.target() / "a"), "new");
  EXPECT_EQ(file_text(house.target() / "other"), "stays");
  extract(house.zip({"z/x"}), house.target());
  EXPECT_EQ(fs::file_size(house.target() / "z/x.npy"), 131U);
}

TEST(Archive, ExtractsNothingThatWouldLieOutside) {
  const Warehouse house;
  for (const auto* name : {"../out", "a/../../out", "/out", "a/.."}) {
    const auto archive = house.tgz(tar_file("good", "1") + tar_file(name, "2"));
    EXPECT_EQ(house.refused_extract(archive),
              fmt::format("a.tgz({}): would lie outside the folder", name));
    EXPECT_EQ(house.files_in_target(), kNoFolder);
  }
  EXPECT_EQ(house.refused_extract(house.zip({"good", "../out"})),
            "a.zip(../out.npy): would lie outside the folder");
  EXPECT_EQ(house.files_in_target(), kNoFolder);
  EXPECT_FALSE(fs::exists(house.at("out")));
  EXPECT_FALSE(fs::exists(house.at("out.npy")));
}

TEST(Archive, ExtractsFilesAndFoldersOnly) {
  const Warehouse house;
  const auto refused = [&](char type) {
    return house.refused_extract(house.tar(tar_entry("odd", "", type, "/etc/passwd", 0)));
  };
  EXPECT_EQ(refused('1'), "a.tar(odd): is a link, expected a file or a folder");
  EXPECT_EQ(refused('2'), "a.tar(odd): is a link, expected a file or a folder");
  for (const char type : {'3', '4', '6'})
    EXPECT_EQ(refused(type), "a.tar(odd): is neither a file nor a folder (a device or a pipe)");
  EXPECT_EQ(house.files_in_target(), kNoFolder);
}

TEST(Archive, LeavesTheFolderAsItWasWhenItFails) {
  const Warehouse house;
  fs::create_directories(house.target() / "folder");
  write_bytes(house.target() / "a", "old");
  EXPECT_EQ(house.refused_extract(house.tgz(tar_file("a", "new") + tar_file("a", "newer"))),
            "a.tgz(a): occurs twice in the archive");
  EXPECT_EQ(house.refused_extract(house.tgz(tar_file("a", "new") + tar_file("folder", "x"))),
            "a.tgz(folder): cannot be written to target/folder: File exists");
  EXPECT_EQ(
      house.refused_extract(house.tgz(tar_file("b", "new") + tar_file("b/c", "x"))).substr(0, 29),
      "a.tgz(b/c): cannot be written");
  EXPECT_EQ(house.files_in_target(), (std::set<std::string>{"a", "folder"}));
  EXPECT_EQ(file_text(house.target() / "a"), "old");
}

TEST(Archive, StopsAtItsLimits) {
  const Warehouse house;
  const auto two = tar_file("a", std::string(600, 'a')) + tar_file("b", std::string(600, 'b'));
  EXPECT_EQ(house.refused_extract(house.tgz(two), {.bytes = 1200, .members = 2}), "(accepted)");
  fs::remove_all(house.target());
  EXPECT_EQ(house.refused_extract(house.tgz(two), {.bytes = 1199, .members = 2}),
            "a.tgz(b): the archive unpacks to more than 1199 bytes");
  EXPECT_EQ(house.refused_extract(house.tgz(two), {.bytes = 1200, .members = 1}),
            "a.tgz: holds more than 1 members");
  EXPECT_EQ(house.refused_extract(house.zip({"a", "b"}), {.bytes = 200, .members = 2}),
            "a.zip(b.npy): the archive unpacks to more than 200 bytes");
  EXPECT_EQ(house.files_in_target(), kNoFolder);
  EXPECT_EQ(house.refused([&] { list_members(house.tgz(two), {.bytes = 1200, .members = 1}); }),
            "a.tgz: holds more than 1 members");
}

// 30 MB in a file of 30 kB: neither read nor skipped to its end.
TEST(Archive, StopsAtABomb) {
  const Warehouse house;
  const ArchiveLimit limit{.bytes = 1'000'000, .members = 10};
  const auto bomb = house.tgz(tar_file("zeros", std::string(30'000'000, '\0')));
  EXPECT_LT(fs::file_size(bomb), 50'000U);
  const std::string message = "a.tgz(zeros): the archive unpacks to more than 1000000 bytes";
  EXPECT_EQ(house.refused_extract(bomb, limit), message);
  EXPECT_EQ(house.refused([&] { list_members(bomb, limit); }), message);
  // After the end of the archive, too.
  write_bytes(house.at("tail.tgz"), tar_file("a", "1") + tar_end() + std::string(30'000'000, '\0'),
              true);
  EXPECT_EQ(house.refused_extract(house.at("tail.tgz"), limit),
            "tail.tgz: the archive unpacks to more than 1000000 bytes");
}

TEST(Archive, RefusesDamagedFilesByName) {
  const Warehouse house;
  EXPECT_EQ(house.refused_extract(house.at("none.tgz")),
            "none.tgz: cannot be read: No such file or directory");
  fs::create_directory(house.at("folder.zip"));
  EXPECT_EQ(house.refused_extract(house.at("folder.zip")),
            "folder.zip: is a folder, expected a file");
  for (const auto* bytes : {"", "0,1,1\n0,1,0\n", "PK\3\4"}) {
    write_bytes(house.at("text.tgz"), bytes);
    EXPECT_EQ(house.refused_extract(house.at("text.tgz")).substr(0, 25),
              "text.tgz: cannot be read:")
        << bytes;
  }
  std::string noise;
  for (uint32_t i = 0, x = 1; i < 5000; ++i)
    noise += static_cast<char>((x = x * 1664525 + 1013904223) >> 24);
  const auto file = house.tgz(tar_file("a", noise));
  const auto whole = file_text(file);
  write_bytes(file, whole.substr(0, whole.size() / 2));
  EXPECT_EQ(house.refused_extract(file), "a.tgz(a): damaged: its gzip stream ends too early");
  EXPECT_EQ(house.refused([&] { text_of(*open_member(file, "a")); }),
            "a.tgz(a): damaged: its gzip stream ends too early");
  auto flipped = whole;
  flipped[flipped.size() - 6] ^= 1;  // of the checksum
  write_bytes(file, flipped);
  EXPECT_EQ(house.refused_extract(file), "a.tgz: damaged: incorrect data check");
  EXPECT_EQ(house.refused([&] { text_of(*open_member(file, "a")); }),
            "a.tgz: damaged: incorrect data check");
  const auto tar = house.tar(tar_file("a", noise));
  fs::resize_file(tar, 3000);
  EXPECT_EQ(house.refused_extract(tar).substr(0, 24), "a.tar(a): cannot be read");
  EXPECT_EQ(house.files_in_target(), kNoFolder);
}

// Whatever the bytes are, an archive is read or refused, and nothing lies outside the folder.
TEST(Archive, SurvivesFlippedBytes) {
  const Warehouse house;
  const auto entries = tar_entry("d/", "", '5', "", 0) + tar_file("d/a", "hello") +
                       tar_entry("././@LongLink", std::string(150, 'n'), 'L', "", 150) +
                       tar_file("n", "long");
  uint32_t x = 7;
  const auto random = [&](size_t below) { return ((x = x * 1664525 + 1013904223) >> 8) % below; };
  for (const auto& file : {house.tar(entries), house.tgz(entries), house.zip({"x", "y/z"})}) {
    const auto whole = file_text(file);
    for (int i = 0; i < 200; ++i) {
      auto damaged = whole;
      for (size_t k = 0; k < 1 + random(4); ++k)
        damaged[random(damaged.size())] = static_cast<char>(random(256));
      if (random(4) == 0) damaged.resize(random(damaged.size()));
      write_bytes(file, damaged);
      house.refused_extract(file, {.bytes = 100'000, .members = 20});
      fs::remove_all(house.target());
    }
    fs::remove(file);
  }
  EXPECT_TRUE(fs::is_empty(house.at("")));
}

}  // namespace
}  // namespace imprint::archive_test
