#include "framework/runs/run_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <ctime>

#include "framework/config/digest.h"
#include "framework/runs/store.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;
constexpr auto finished_mark = ".finished";

std::string timestamp() {
  const auto now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%Y%m%d-%H%M%S", &parts);
  return text;
}

std::optional<fs::path> unfinished(const fs::path& folder, const std::string& hash) {
  std::optional<fs::path> newest;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    const auto name = entry.path().filename().string();
    if (!name.ends_with("-" + hash) || fs::exists(entry.path() / finished_mark)) continue;
    if (!newest || name > newest->filename().string()) newest = entry.path();
  }
  return newest;
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

fs::path open_run_folder(const fs::path& out, const std::string& name, const Value& resolved) {
  const auto hash = sha256(to_yaml(resolved)).substr(0, 8);
  const auto parent = out / name;
  auto folder = unfinished(parent, hash).value_or(parent / (timestamp() + "-" + hash));
  // A second finished run within one second gets a name of its own.
  for (int i = 2; fs::exists(folder / finished_mark); ++i)
    folder = parent / fmt::format("{}.{}-{}", timestamp(), i, hash);
  std::error_code error;
  fs::create_directories(folder / "records", error);
  if (error || ::access(folder.c_str(), W_OK) != 0)
    throw ConfigError(fmt::format("the run folder '{}' cannot be written: {}", folder.string(),
                                  error ? error.message() : std::strerror(errno)));
  link_latest(out, folder);
  return folder;
}

void finish_run_folder(const fs::path& folder) { write_file(folder / finished_mark, ""); }

}  // namespace imprint
