#include <ATen/Parallel.h>

#include "framework/data/formats/images.h"
#include "tests/support/fixtures.h"
#include "tests/support/pictures.h"
#include "tests/support/process.h"

namespace imprint::image_folder_test {
namespace {

namespace fs = std::filesystem;

class ImageFolder : public testing::Test {
 protected:
  fs::path at(const std::string& name) const {
    const auto file = folder_.path() / name;
    fs::create_directories(file.parent_path());
    return file;
  }
  void picture(const std::string& name, int value) const {
    write_png(at(name), torch::full({3, 6, 8}, value, torch::kUInt8));
  }

  std::shared_ptr<Source> source(const std::string& keys = "resize: 4, crop: 4") const {
    Problems problems;
    const auto value = parse_yaml(
        fmt::format("{{name: image_folder, path: \"{}\", {}}}", folder_.path().string(), keys), "");
    auto built = build(SourceRegistry::instance(), "dataset", value, problems, {});
    problems.raise();
    return built.component;
  }

  std::string refusal() const {
    try {
      source()->load();
    } catch (const ConfigError& error) {
      return std::string(error.what()).substr(folder_.path().string().size());
    }
    return "(accepted)";
  }

  TempFolder folder_;
};

TEST_F(ImageFolder, ReadsTrainThenValInTheOrderOfNames) {
  picture("val/b/1.png", 50);
  picture("val/a-b/1.PNG", 40);
  picture("train/b/2.png", 30);
  picture("train/b/10.png", 20);
  picture("train/a-b/x.png", 10);
  write_jpeg(at("train/a/y.JPEG"), torch::full({8, 8, 3}, 5, torch::kUInt8));
  std::ofstream(at("train/a/.hidden")) << "not looked at";
  std::ofstream(at("README")) << "not looked at";
  const auto data = source()->load();
  EXPECT_EQ(data.x.all().sizes(), torch::IntArrayRef({6, 3, 4, 4}));
  EXPECT_EQ(data.x.type(), torch::kUInt8);
  EXPECT_TRUE(torch::equal(data.x.all().select(1, 0).select(1, 2).select(1, 2),
                           torch::tensor({5, 10, 20, 30, 40, 50}).to(torch::kUInt8)));
  EXPECT_TRUE(torch::equal(data.y, torch::tensor({0, 1, 2, 2, 1, 2})));
  EXPECT_EQ(data.classes, 3);
  std::vector<std::string> names;
  for (const auto& file : source()->files())
    names.push_back(file.lexically_relative(folder_.path()).string());
  EXPECT_EQ(names, std::vector<std::string>({"train/a/y.JPEG", "train/a-b/x.png", "train/b/10.png",
                                             "train/b/2.png", "val/a-b/1.PNG", "val/b/1.png"}));
}

TEST_F(ImageFolder, ReadsClassesWithoutParts) {
  picture("cat/1.jpg", 1);  // a PNG file, whatever its name
  picture("dog/1.png", 2);
  const auto data = source("resize: 6, crop: 5, channels: 1")->load();
  EXPECT_EQ(data.x.all().sizes(), torch::IntArrayRef({2, 1, 5, 5}));
  EXPECT_TRUE(torch::equal(data.y, torch::tensor({0, 1})));
}

TEST_F(ImageFolder, PreparesImagesAsTorchvisionDoes) {
  const auto image =
      torch::randint(0, 256, {3, 20, 30}, at::detail::createCPUGenerator(3), torch::kUInt8);
  write_png(at("a/1.png"), image);
  EXPECT_TRUE(torch::equal(source("resize: 10, crop: 8")->load().x.all()[0],
                           centre_crop(resize_shorter(image, 10), 8)));
  EXPECT_EQ(source("channels: 1")->load().x.all().sizes(), torch::IntArrayRef({1, 1, 224, 224}));
}

TEST_F(ImageFolder, IsTheSameForAnyNumberOfThreads) {
  for (int i = 0; i < 20; ++i) picture(fmt::format("{}/{:02}.png", i % 3, i), i);
  const auto threads = at::get_num_threads();
  const auto digest = source()->load().digest();
  at::set_num_threads(1);
  EXPECT_EQ(source()->load().digest(), digest);
  at::set_num_threads(threads);
}

TEST_F(ImageFolder, KnowsTheColoursOfImageNet) {
  EXPECT_EQ(source()->facts().mean, std::vector<double>({0.485, 0.456, 0.406}));
  EXPECT_EQ(source()->facts().deviation, std::vector<double>({0.229, 0.224, 0.225}));
  EXPECT_TRUE(source("channels: 1")->facts().mean.empty());
}

TEST_F(ImageFolder, RefusesFoldersOfAnotherShape) {
  EXPECT_EQ(refusal(), ": is empty, expected a folder per class");
  fs::create_directories(at("val/a"));
  EXPECT_EQ(refusal(), ": has a folder val, but no train");
  fs::create_directories(at("train"));
  EXPECT_EQ(refusal(), "/train: is empty, expected a folder per class");
  fs::create_directories(at("train/a"));
  EXPECT_EQ(refusal(), "/train/a: is empty, expected images");
  picture("train/a/1.png", 1);
  EXPECT_EQ(refusal(), "/val/a: is empty, expected images");
  picture("val/a/1.png", 1);
  picture("val/b/1.png", 1);
  EXPECT_EQ(refusal(), "/val/b: is a class of which train has no images");
  fs::remove_all(at("val/b"));
  fs::create_directories(at("val/a/more"));
  EXPECT_EQ(refusal(), "/val/a/more: is a folder, expected an image");
  fs::remove(at("val/a/more"));
  std::ofstream(at("train/a/notes.txt")) << "x";
  EXPECT_EQ(refusal(),
            "/train/a/notes.txt: is no image: expected a name that ends in .png, .jpg or .jpeg");
  fs::remove(at("train/a/notes.txt"));
  std::ofstream(at("train/notes.txt")) << "x";
  EXPECT_EQ(refusal(), "/train/notes.txt: is a file, expected a folder per class");
  fs::remove_all(folder_.path());
  EXPECT_EQ(refusal(), ": cannot be read: No such file or directory");
  std::ofstream(folder_.path()) << "x";
  EXPECT_EQ(refusal(), ": cannot be read: Not a directory");
}

TEST_F(ImageFolder, NamesTheFirstBadImage) {
  for (int i = 0; i < 30; ++i) picture(fmt::format("a/{:02}.png", i), i);
  fs::resize_file(at("a/20.png"), 60);
  EXPECT_EQ(refusal(), "/a/20.png: truncated: it ends before its image does");
  std::ofstream(at("a/07.png")) << "hello";
  EXPECT_EQ(refusal(), "/a/07.png: is neither PNG nor JPEG: it starts with 68 65 6c 6c 6f");
  fs::remove(at("a/03.png"));
  fs::create_symlink("nowhere", at("a/03.png"));
  EXPECT_EQ(refusal(), "/a/03.png: cannot be read: No such file or directory");
}

TEST_F(ImageFolder, RefusesWrongKeys) {
  expect_config_error("dataset", "{name: image_folder}",
                      "dataset 'image_folder' needs the key 'path' (folder of train/<class>/* and "
                      "val/<class>/*, or <class>/*)");
  expect_config_error("dataset", "{name: image_folder, path: x, channels: 2}",
                      "channels must be 1 or 3, not 2");
  expect_config_error("dataset", "{name: image_folder, path: x, crop: 0}",
                      "crop must be between 1 and 65536, not 0");
}

}  // namespace
}  // namespace imprint::image_folder_test
