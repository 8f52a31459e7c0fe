#include <algorithm>

#include "framework/data/dataset.h"
#include "framework/data/formats/images.h"

namespace imprint::image_folder {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path, const std::string& why) {
  throw ConfigError(fmt::format("{}: {}", path.string(), why));
}

// What lies in a folder, hidden files aside, in the order of its bytes.
std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> found;
  try {
    for (const auto& entry : fs::directory_iterator(folder))
      if (!entry.path().filename().string().starts_with(".")) found.push_back(entry.path());
  } catch (const fs::filesystem_error& error) {
    refuse(folder, fmt::format("cannot be read: {}", error.code().message()));
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool is_folder(const fs::path& path) {
  std::error_code unreadable;
  return fs::is_directory(path, unreadable);
}

std::vector<fs::path> class_folders(const fs::path& part) {
  const auto folders = entries(part);
  for (const auto& folder : folders)
    if (!is_folder(folder)) refuse(folder, "is a file, expected a folder per class");
  if (folders.empty()) refuse(part, "is empty, expected a folder per class");
  return folders;
}

std::vector<fs::path> images_of(const fs::path& folder) {
  const auto files = entries(folder);
  for (const auto& file : files) {
    if (is_folder(file)) refuse(file, "is a folder, expected an image");
    auto ending = file.extension().string();
    for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (ending != ".png" && ending != ".jpg" && ending != ".jpeg")
      refuse(file, "is no image: expected a name that ends in .png, .jpg or .jpeg");
  }
  if (files.empty()) refuse(folder, "is empty, expected images");
  return files;
}

/// The images of all classes and the class of each; classes are numbered in the order of names.
struct Listing {
  std::vector<std::string> classes;
  std::vector<fs::path> files;
  std::vector<int64_t> labels;

  void add(const fs::path& part) {
    for (const auto& folder : class_folders(part)) {
      const auto label = std::find(classes.begin(), classes.end(), folder.filename().string());
      if (label == classes.end()) refuse(folder, "is a class of which train has no images");
      for (auto& file : images_of(folder)) {
        files.push_back(std::move(file));
        labels.push_back(label - classes.begin());
      }
    }
  }
};

/// Images in folders, as ImageNet comes: path/train/<class>/* and path/val/<class>/*, or without
/// parts path/<class>/*. Each is resized (its shorter side, bilinear with antialias) and cropped at
/// its centre, as torchvision's models are evaluated.
///
/// Keys: path, resize (256), crop (224), channels (3).
class ImageFolder final : public Source {
 public:
  explicit ImageFolder(Keys keys)
      : path_(keys.path("path").doc("folder of train/<class>/* and val/<class>/*, or <class>/*")),
        resize_(keys.integer("resize", 256).within(1, 65536).doc("length of the shorter side")),
        crop_(keys.integer("crop", 224).within(1, 65536).doc("sides of the part in the middle")),
        channels_(keys.integer("channels", 3).within(1, 3).doc("3: colours, 1: grey")) {
    if (channels_ == 2) keys.problem("channels", "channels must be 1 or 3, not 2");
  }

  std::vector<fs::path> files() const override { return listing().files; }

  Dataset load() const override {
    const auto all = listing();
    return {read_images(all.files, channels_, resize_, crop_), torch::tensor(all.labels),
            static_cast<int64_t>(all.classes.size())};
  }

  Facts facts() const override {
    if (channels_ != 3) return {};
    return {{0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}, {}, {}};  // of ImageNet
  }

 private:
  Listing listing() const {
    const fs::path path(path_), train = path / "train", val = path / "val";
    if (is_folder(val) && !is_folder(train)) refuse(path, "has a folder val, but no train");
    const auto first = is_folder(train) ? train : path;
    Listing all;
    for (const auto& folder : class_folders(first))
      all.classes.push_back(folder.filename().string());
    all.add(first);
    if (is_folder(val)) all.add(val);
    return all;
  }

  std::string path_;
  int64_t resize_, crop_, channels_;
};

IMPRINT_DATASET(ImageFolder, "image_folder", "your own images in a folder per class, or ImageNet",
                "the user's files");

}  // namespace
}  // namespace imprint::image_folder
