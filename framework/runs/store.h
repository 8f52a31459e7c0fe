#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "framework/data/dataset.h"
#include "framework/data/formats/file.h"
#include "framework/runs/lock.h"

namespace imprint {

/// Results by content address: `<root>/<kind>/<address>/`. An entry is there whole or not at all,
/// so a finished job is never done twice and a half-done one never read.
class Store {
 public:
  /// Makes the folder. Throws ConfigError when it cannot be written.
  explicit Store(std::filesystem::path root);

  bool has(const std::string& kind, const std::string& address) const;
  std::filesystem::path at(const std::string& kind, const std::string& address) const;
  const std::filesystem::path& root() const { return root_; }

  std::map<std::string, Tensor> tensors(const std::string& kind, const std::string& address,
                                        const std::string& file = "tensors") const;
  nlohmann::json json(const std::string& kind, const std::string& address,
                      const std::string& file) const;

  /// Taken by the worker that does a job, so that others leave it alone; a courtesy, not needed for
  /// correctness.
  std::optional<FileLock> lease(const std::string& address) const;

 private:
  std::filesystem::path root_;
};

/// An entry being written under a temporary name; `commit` makes it appear. Without a commit
/// nothing remains.
class Draft {
 public:
  Draft(const Store& store, std::string kind, std::string address);
  ~Draft();
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  void tensors(const std::map<std::string, Tensor>& tensors, const std::string& file = "tensors");
  void text(const std::string& file, const std::string& contents);
  void commit();

 private:
  std::filesystem::path final_, temporary_;
  bool committed_ = false;
};

/// Reads a whole file; throws std::runtime_error naming it.
std::string read_file(const std::filesystem::path& file);

}  // namespace imprint
