#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace imprint {

/// Who holds a lease, as far as can be seen from here.
struct LeaseHolder {
  bool held = false;  ///< by a process that may be alive
  std::string host;
  int64_t process = 0;
};

/// A file that says that somebody is at work on something, on a file system that several machines
/// may share. Its holder touches it every few seconds. It is free when its process is gone (seen at
/// once on the same machine), or when nobody has touched it for half a minute of the observer's own
/// clock. Only a courtesy: whoever loses one while stopped must not depend on it.
class Lease {
 public:
  /// The lease, or nothing while another process holds it. Throws StorageError when the file cannot
  /// be made.
  static std::optional<Lease> attempt(const std::filesystem::path& file);

  Lease(Lease&& other) noexcept;
  Lease& operator=(Lease&&) = delete;
  ~Lease();

 private:
  struct Heart;
  explicit Lease(std::unique_ptr<Heart> heart);

  std::unique_ptr<Heart> heart_;
};

LeaseHolder holder_of(const std::filesystem::path& file);

/// Whether a `unique_suffix()` was given by a process of this machine that is gone.
bool abandoned(const std::string& suffix);

}  // namespace imprint
