#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "framework/data/dataset.h"
#include "framework/data/formats/file.h"
#include "framework/runs/lease.h"

namespace imprint {

/// An entry of the store that cannot be trusted: a file is missing, or not what was written.
class DamagedEntry : public std::runtime_error {
 public:
  DamagedEntry(std::string kind, std::string address, const std::string& why);
  std::string kind, address;
};

/// Results by content address: `<root>/<kind>/<address>/`. An entry is there whole or not at all,
/// so a finished job is never done twice and a half-done one never read. Each holds the digests of
/// its files, which are checked whenever one is read.
class Store {
 public:
  /// Makes the folder. Throws ConfigError when it cannot be written, or when another version of
  /// Imprint wrote it in another format.
  explicit Store(std::filesystem::path root);

  bool has(const std::string& kind, const std::string& address) const;
  std::filesystem::path at(const std::string& kind, const std::string& address) const;
  const std::filesystem::path& root() const { return root_; }
  /// Addresses of all entries of a kind, in order.
  std::vector<std::string> entries(const std::string& kind) const;

  /// Contents of an entry's file. All throw DamagedEntry.
  std::map<std::string, Tensor> tensors(const std::string& kind, const std::string& address,
                                        const std::string& file = "tensors") const;
  /// Memory-mapped: needs no memory of its own; nothing may be written into it.
  std::map<std::string, Tensor> mapped_tensors(const std::string& kind, const std::string& address,
                                               const std::string& file) const;
  nlohmann::json json(const std::string& kind, const std::string& address,
                      const std::string& file) const;
  std::string text(const std::string& kind, const std::string& address,
                   const std::string& file) const;

  /// Moves an entry out of the way, to `<root>/damaged`, and says where to; nothing if it is gone.
  std::optional<std::filesystem::path> set_aside(const std::string& kind,
                                                 const std::string& address) const;
  /// Deletes an entry; what is deleted is never half there.
  void remove(const std::string& kind, const std::string& address) const;
  /// `sweep_folder` for every kind.
  void sweep() const;

  /// Taken by the worker that does a job, so that others leave it alone; a courtesy, not needed for
  /// correctness.
  std::optional<Lease> lease(const std::string& address) const;
  LeaseHolder lease_holder(const std::string& address) const;

 private:
  std::filesystem::path checked(const std::string& kind, const std::string& address,
                                const std::string& file) const;

  std::filesystem::path root_;
};

/// An entry being written under a temporary name; `commit` makes it appear, on disk. Without a
/// commit nothing remains. Throws StorageError.
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
  std::string digests_;
  bool committed_ = false;
};

/// Deletes what processes of this machine left half-written in a folder when they were killed.
void sweep_folder(const std::filesystem::path& folder);

/// Reads a whole file; throws std::runtime_error naming it.
std::string read_file(const std::filesystem::path& file);

}  // namespace imprint
