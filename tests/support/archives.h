#pragma once

#include <zlib.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace imprint {

/// Writes a file, gzip-compressed or not.
inline void write_bytes(const std::filesystem::path& file, const std::string& bytes,
                        bool gzip = false) {
  if (!gzip) {
    std::ofstream(file, std::ios::binary) << bytes;
    return;
  }
  auto* const out = gzopen(file.c_str(), "wb");
  gzwrite(out, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(out);
}

/// One entry of a tar (ustar): a file ('0'), or '1' hard link, '2' symbolic link, '3' device,
/// '5' folder, '6' pipe. `size` is what the header claims.
inline std::string tar_entry(const std::string& name, const std::string& contents, char type,
                             const std::string& link, size_t size) {
  std::array<char, 512> header{};
  name.copy(header.data(), 100);
  std::snprintf(header.data() + 100, 8, "%07o", 0644U);
  std::snprintf(header.data() + 108, 8, "%07o", 0U);
  std::snprintf(header.data() + 116, 8, "%07o", 0U);
  std::snprintf(header.data() + 124, 12, "%011zo", size);
  std::snprintf(header.data() + 136, 12, "%011o", 0U);
  header[156] = type;
  link.copy(header.data() + 157, 100);
  std::string("ustar\00000", 8).copy(header.data() + 257, 8);
  std::string(8, ' ').copy(header.data() + 148, 8);
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  std::snprintf(header.data() + 148, 8, "%06o", sum);
  return std::string(header.data(), header.size()) + contents +
         std::string((512 - contents.size() % 512) % 512, '\0');
}

inline std::string tar_file(const std::string& name, const std::string& contents) {
  return tar_entry(name, contents, '0', "", contents.size());
}

/// What ends a tar.
inline std::string tar_end() { return std::string(1024, '\0'); }

}  // namespace imprint
