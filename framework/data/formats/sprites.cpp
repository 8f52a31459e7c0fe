#include "framework/data/formats/sprites.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "framework/config/problems.h"
#include "framework/data/formats/file.h"
#include "framework/data/formats/images.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kSpritePixels = 32 * 32;

[[noreturn]] void refuse_package(const fs::path& file, const std::string& why) {
  throw ConfigError(fmt::format("{}: {}", file.string(), why));
}

// A JSON list of labels 0 to 9: uint8 [n].
Tensor sprite_labels(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) refuse_package(file, fmt::format("cannot be read: {}", std::strerror(errno)));
  std::string text(1 << 20, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(stream.gcount()));
  const auto list = nlohmann::json::parse(text, nullptr, false);
  std::vector<uint8_t> labels;
  bool good = list.is_array();
  for (size_t i = 0; good && i < list.size(); ++i) {
    good = list[i].is_number_unsigned() && list[i].get<uint64_t>() < 10;
    if (good) labels.push_back(list[i].get<uint8_t>());
  }
  if (!good) refuse_package(file, "is no JSON list of labels 0 to 9");
  return torch::tensor(labels, torch::kUInt8);
}

// The sprites one below the other: uint8 [n, 3, pixels].
Tensor sprite_rows(const fs::path& file) {
  const auto image = read_image(file, 3);
  if (image.size(2) != kSpritePixels)
    refuse_package(file, fmt::format("is {} pixels wide, expected {}: an image of 32 x 32 per row",
                                     image.size(2), kSpritePixels));
  return image.permute({1, 0, 2});
}

std::string cifar_records(const Tensor& images, const Tensor& labels) {
  const auto records = torch::cat({labels.unsqueeze(1), images.flatten(1)}, 1).contiguous();
  return {static_cast<const char*>(records.const_data_ptr()), records.nbytes()};
}

// The files that the sprites `names` of one label file become.
void convert_sprites(const fs::path& package, const std::vector<std::string>& names,
                     const std::string& label_file, std::map<std::string, std::string>& files) {
  const auto labels = sprite_labels(package / label_file);
  int64_t images = 0;
  for (const auto& name : names) {
    const auto sprite = sprite_rows(package / (name + ".png"));
    const auto from = std::min<int64_t>(images, labels.size(0));
    images += sprite.size(0);
    if (images <= labels.size(0))
      files[name + ".bin"] = cifar_records(sprite, labels.slice(0, from, images));
  }
  if (images != labels.size(0))
    refuse_package(package / label_file,
                   fmt::format("{} labels for {} images", labels.size(0), images));
}

}  // namespace

void sprites_to_cifar(const fs::path& package, const fs::path& to) {
  std::map<std::string, std::string> files;
  // The package spells it so.
  convert_sprites(package, {"test_batch"}, "test_lables.json", files);
  convert_sprites(package,
                  {"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5"},
                  "train_lables.json", files);
  fs::create_directories(to);
  for (const auto& [name, bytes] : files) write_file(to / name, bytes);
}

}  // namespace imprint
