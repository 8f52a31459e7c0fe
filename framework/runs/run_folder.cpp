#include "framework/runs/run_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "framework/config/digest.h"
#include "framework/runs/store.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;
constexpr auto finished_mark = ".finished";
constexpr auto lock_file = ".lock";

std::string timestamp() {
  const auto now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%Y%m%d-%H%M%S", &parts);
  return text;
}

std::optional<RunFolder> locked(const fs::path& folder) {
  auto lock = FileLock::attempt(folder / lock_file, false);
  if (!lock) return std::nullopt;
  return RunFolder{folder, std::move(*lock)};
}

std::optional<RunFolder> unfinished(const fs::path& parent, const std::string& hash) {
  std::vector<fs::path> found;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(parent, none)) {
    const auto name = entry.path().filename().string();
    if (name.ends_with("-" + hash) && !is_finished(entry.path())) found.push_back(entry.path());
  }
  std::sort(found.rbegin(), found.rend());
  for (const auto& folder : found)
    if (auto mine = locked(folder)) return mine;
  return std::nullopt;
}

// A folder of this second's name, or with a number behind it where that one is taken.
RunFolder fresh(const fs::path& parent, const std::string& hash) {
  for (int i = 1;; ++i) {
    const auto folder =
        parent / fmt::format("{}{}-{}", timestamp(), i == 1 ? "" : fmt::format(".{}", i), hash);
    std::error_code error;
    fs::create_directories(parent, error);
    const bool made = !error && fs::create_directory(folder, error);
    if (error)
      throw ConfigError(fmt::format("the run folder '{}' cannot be written: {}", folder.string(),
                                    error.message()));
    if (!made) continue;
    if (auto mine = locked(folder)) return std::move(*mine);
  }
}

// Replaced by rename, so that the link always leads somewhere.
void link_latest(const fs::path& out, const fs::path& folder) {
  const auto temporary = out / fmt::format(".latest-{}", ::getpid());
  std::error_code ignored;
  fs::remove(temporary, ignored);
  fs::create_directory_symlink(fs::relative(folder, out), temporary, ignored);
  fs::rename(temporary, out / "latest", ignored);
}

}  // namespace

RunFolder open_run_folder(const fs::path& out, const std::string& name, const Value& resolved) {
  const auto hash = sha256(to_yaml(resolved)).substr(0, 8);
  auto folder = unfinished(out / name, hash);
  if (!folder) folder.emplace(fresh(out / name, hash));
  fs::create_directories(folder->path / "records");
  sweep_folder(folder->path);
  sweep_folder(folder->path / "records");
  link_latest(out, folder->path);
  return std::move(*folder);
}

void finish_run_folder(const fs::path& folder) { write_file(folder / finished_mark, ""); }

bool is_finished(const fs::path& folder) { return fs::exists(folder / finished_mark); }

bool is_open_elsewhere(const fs::path& folder) {
  return fs::exists(folder / lock_file) && !FileLock::attempt(folder / lock_file, false);
}

}  // namespace imprint
