#pragma once

#include <filesystem>

namespace imprint {

/// Keeps two programs from fetching into one folder, where the file system knows locks, and clears
/// away the work folders that a killed one left. Throws ConfigError when another program is at it.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int fd_;
};

/// A folder within `folder`, and so on its file system, for what is on its way there; removed at
/// the end of the scope. Throws ConfigError when it cannot be made.
class WorkFolder {
 public:
  explicit WorkFolder(const std::filesystem::path& folder);
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Copies a file by way of `target`.part; an existing target is replaced only by a whole file.
/// Throws ConfigError naming the file that cannot be read or written, and leaves no part.
void copy_whole(const std::filesystem::path& file, const std::filesystem::path& target);

}  // namespace imprint
