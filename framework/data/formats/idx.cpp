#include "framework/data/formats/idx.h"

#include <fmt/format.h>

#include <cstdlib>

#include "framework/data/formats/bytes.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_idx(const fs::path& file, const std::string& why) {
  throw ConfigError(fmt::format("{}: {}", file.string(), why));
}

std::optional<fs::path> either(const fs::path& folder, const std::string& name) {
  for (const auto& file : {folder / name, folder / (name + ".gz")})
    if (std::error_code unreadable; fs::exists(file, unreadable)) return file;
  return std::nullopt;
}

Dataset read_part(const fs::path& image_file, const fs::path& label_file, int64_t classes) {
  const auto images = read_idx(image_file);
  const auto labels = read_idx(label_file);
  if (images.dim() != 3)
    refuse_idx(image_file, fmt::format("holds {} dimensions, expected 3", images.dim()));
  if (labels.dim() != 1)
    refuse_idx(label_file, fmt::format("holds {} dimensions, expected 1", labels.dim()));
  if (images.size(0) != labels.size(0))
    refuse_idx(label_file, fmt::format("{} labels for {} images", labels.size(0), images.size(0)));
  if (labels.numel() == 0) refuse_idx(label_file, "holds no records");
  const auto highest = labels.max().item<int64_t>();
  if (highest >= classes)
    refuse_idx(label_file, fmt::format("label {} outside 0..{}", highest, classes - 1));
  return {images.unsqueeze(1), labels.to(torch::kLong), classes};
}

}  // namespace

Tensor read_idx(const fs::path& file) {
  const auto reader = open_file(file);
  std::array<uint8_t, 4> magic{};
  reader->read(magic.data(), magic.size());
  const bool good =
      magic[0] == 0 && magic[1] == 0 && magic[2] == 8 && magic[3] >= 1 && magic[3] <= 4;
  if (!good)
    refuse_idx(file, fmt::format("is no IDX file of bytes: it starts with {:02x} {:02x} {:02x} "
                                 "{:02x}, expected 00 00 08 01..04",
                                 magic[0], magic[1], magic[2], magic[3]));
  std::vector<int64_t> shape;
  int64_t total = 1;
  for (int i = 0; i < magic[3]; ++i) {
    std::array<uint8_t, 4> size{};
    reader->read(size.data(), size.size());
    shape.push_back(int64_t{size[0]} << 24 | int64_t{size[1]} << 16 | int64_t{size[2]} << 8 |
                    size[3]);
    total *= std::max<int64_t>(shape.back(), 1);
    if (total > int64_t{1} << 36) refuse_idx(file, "damaged: its header asks for over 64 GiB");
  }
  auto tensor = torch::empty(shape, torch::kUInt8);
  reader->read(tensor.mutable_data_ptr<uint8_t>(), tensor.nbytes());
  if (!reader->at_end()) refuse_idx(file, "damaged: it goes on after its last record");
  return tensor;
}

std::vector<fs::path> find_mnist_files(const std::vector<fs::path>& folders,
                                       const std::string& how_to_get) {
  std::vector<std::string> tried;
  for (const auto& folder : folders) {
    tried.push_back(folder.string());
    std::vector<fs::path> files;
    for (const auto* name : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                             "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"})
      if (const auto file = either(folder, name)) files.push_back(*file);
    if (files.size() == 4) return files;
  }
  throw ConfigError(
      fmt::format("no folder has the four files train-images-idx3-ubyte[.gz] ...; looked in {}. {}",
                  joined(tried), how_to_get));
}

Dataset read_mnist_files(const std::vector<fs::path>& files, int64_t classes) {
  const auto train = read_part(files.at(0), files.at(1), classes);
  const auto test = read_part(files.at(2), files.at(3), classes);
  return {torch::cat({train.x.all(), test.x.all()}), torch::cat({train.y, test.y}), classes};
}

}  // namespace imprint
