#include "framework/data/formats/cifar.h"

#include <fmt/format.h>

#include <algorithm>

#include "framework/data/formats/cifar_pickle.h"
#include "framework/data/formats/file.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;

/// All files in a folder, or nothing. Not if all are folders: `train` and `test` often are.
std::vector<fs::path> files_in(const fs::path& folder, const CifarFormat& format,
                               const std::string& ending) {
  std::vector<fs::path> files;
  for (const auto& name : format.files) files.push_back(folder / (name + ending));
  const auto there = [](const fs::path& file) {
    std::error_code unreadable;
    return fs::exists(file, unreadable);
  };
  const auto ordinary = [](const fs::path& file) {
    std::error_code unreadable;
    return fs::is_regular_file(file, unreadable);
  };
  if (!std::all_of(files.begin(), files.end(), there)) return {};
  if (std::none_of(files.begin(), files.end(), ordinary)) return {};
  return files;
}

Dataset read_binary_cifar(const fs::path& path, const CifarFormat& format) {
  const InputFile file(path);
  const auto record = format.label_bytes + 3072;
  const auto bytes = static_cast<int64_t>(file.size());
  if (bytes == 0) file.refuse("holds no records");
  if (bytes % record != 0)
    file.refuse(fmt::format("truncated, or no {} file: it has {} bytes, expected a multiple of {}",
                            format.title, bytes, record));
  const auto n = bytes / record;
  auto records = torch::empty({n, record}, torch::kUInt8);
  file.read(0, records.mutable_data_ptr(), records.nbytes());
  return {records.slice(1, format.label_bytes).reshape({n, 3, 32, 32}),
          records.select(1, format.label_byte).to(torch::kLong), format.classes};
}

Dataset read_python_cifar(const fs::path& path, const CifarFormat& format) {
  const auto [images, labels] = read_pickled_cifar(path, format.label_key);
  if (images.size(0) != labels.size(0))
    throw ConfigError(
        fmt::format("{}: {} labels for {} images", path.string(), labels.size(0), images.size(0)));
  return {images.reshape({-1, 3, 32, 32}), labels, format.classes};
}

void check_labels(const fs::path& path, const Dataset& data) {
  const auto outside = data.y.lt(0).logical_or(data.y.ge(data.classes)).nonzero();
  if (outside.size(0) == 0) return;
  const auto first = outside[0][0].item<int64_t>();
  throw ConfigError(fmt::format("{}: record {} has label {}, outside 0..{}", path.string(), first,
                                data.y[first].item<int64_t>(), data.classes - 1));
}

}  // namespace

CifarFormat cifar10_format() {
  return {"CIFAR-10",
          "cifar10",
          {"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5",
           "test_batch"},
          "cifar-10-batches-bin",
          "cifar-10-batches-py",
          10,
          1,
          0,
          "labels"};
}

CifarFormat cifar100_format(bool coarse) {
  return {"CIFAR-100",
          "cifar100",
          {"train", "test"},
          "cifar-100-binary",
          "cifar-100-python",
          coarse ? 20 : 100,
          2,
          coarse ? 0 : 1,
          coarse ? "coarse_labels" : "fine_labels"};
}

std::vector<fs::path> cifar_files(const CifarFormat& format, const std::vector<fs::path>& folders) {
  std::vector<std::string> tried;
  for (const auto& folder : folders) {
    tried.push_back(folder.string());
    for (const auto& place : {folder / format.binary_folder, folder / format.python_folder, folder})
      for (const auto* const ending : {".bin", ""})
        if (auto files = files_in(place, format, ending); !files.empty()) return files;
  }
  throw ConfigError(fmt::format(
      "no folder has the {} files of {} ({}, or the same ending in .bin), itself or in {} or {}; "
      "looked in {}. Get them with: imprint data get {}",
      format.files.size(), format.title, joined(format.files), format.python_folder,
      format.binary_folder, joined(tried), format.component));
}

Dataset read_cifar(const CifarFormat& format, const std::vector<fs::path>& files) {
  std::vector<Tensor> images, labels;
  for (const auto& file : files) {
    const auto part = file.extension() == ".bin" ? read_binary_cifar(file, format)
                                                 : read_python_cifar(file, format);
    check_labels(file, part);
    images.push_back(part.x.all());
    labels.push_back(part.y);
  }
  return {torch::cat(images), torch::cat(labels), format.classes};
}

}  // namespace imprint
