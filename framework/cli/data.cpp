#include <fmt/format.h>

#include "framework/cli/data_source.h"
#include "framework/cli/transfer_line.h"
#include "framework/data/fetching/fetch.h"
#include "framework/data/formats/idx.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;

// The data set with no keys: what it says of itself does not depend on them.
std::shared_ptr<Source> keyless(const SourceRegistry::Item& item) {
  static const Value no_keys;
  Problems ignored;  // required keys are missing, of course
  return item.make(Keys(no_keys, new_reading(item.about.kind, ignored)));
}

// Where a data set's files are, if they are.
struct Whereabouts {
  bool here = false;
  std::vector<fs::path> files;
  std::string missing;  ///< why not

  std::string folder() const {
    const auto folder = files.front().parent_path();
    return folder.empty() ? "." : folder.string();
  }
};

Whereabouts whereabouts(const Source& source) {
  try {
    return {true, source.files(), ""};
  } catch (const ConfigError& error) {
    return {false, {}, error.what()};
  }
}

bool is_made_up(const Source& source) {
  const auto where = whereabouts(source);
  return source.origin().empty() && where.here && where.files.empty();
}

std::string from_words(const Source& source) {
  const auto origin = source.origin();
  if (origin.empty()) return is_made_up(source) ? "made up" : "your own files";
  std::vector<std::string> places;
  for (const auto& site : origin.sites) {
    const auto host = site.substr(site.find("//") + 2);
    if (places.empty()) places.push_back(host.substr(0, host.find('/')));
  }
  for (const auto& mirror : origin.mirrors) places.push_back(mirror.client);
  return joined(places);
}

std::string here_words(const Source& source) {
  if (source.origin().empty()) return "-";
  const auto where = whereabouts(source);
  return where.here ? where.folder() : "no";
}

using Row = std::vector<std::string>;

void print_columns(const std::vector<Row>& rows) {
  std::vector<size_t> widths(rows.front().size());
  for (const auto& row : rows)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) line += fmt::format("{:<{}}  ", row[i], widths[i]);
    fmt::print("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
  }
}

void refuse_what_cannot_be_fetched(const std::string& name) {
  const auto& items = SourceRegistry::instance().items();
  const auto item = items.find(name);
  if (item == items.end()) return;  // building it will say so
  const auto source = keyless(item->second);
  if (!source->origin().empty()) return;
  throw ConfigError(
      is_made_up(*source)
          ? fmt::format("'{}' is made up when it is used: there is nothing to get", name)
          : fmt::format("'{}' reads your own files: there is nothing to get", name));
}

// "4 files as published", or how many of them nobody knows the digests of.
std::string right_words(const std::vector<FileCheck>& checks) {
  const auto known = std::count_if(checks.begin(), checks.end(), [](auto& c) { return c.known(); });
  const auto all = static_cast<std::ptrdiff_t>(checks.size());
  const auto files = [](auto count) {
    return fmt::format("{} file{}", count, count == 1 ? "" : "s");
  };
  if (known == all) return files(all) + " as published";
  if (known == 0) return files(all) + ", of which no published digest is known";
  return fmt::format("{}, {} as published, no digest known of the others", files(all), known);
}

// Whether nothing need be fetched; says what is wrong with what is there.
bool is_here_and_right(const Source& source, const std::string& name) {
  const auto where = whereabouts(source);
  if (!where.here) return false;
  bool right = true;
  const auto checks = checked_files(source);
  for (const auto& check : checks)
    if (!check.right()) {
      right = false;
      fmt::print(stderr, "imprint: {}: {}; fetching it anew\n", check.file.string(), check.words());
    }
  if (right) fmt::print("{} is there: {}, {}\n", name, where.folder(), right_words(checks));
  return right;
}

void require_right_files(const Source& source) {
  for (const auto& check : checked_files(source))
    if (!check.right())
      throw ConfigError(fmt::format("{}: {}", check.file.string(), check.words()));
}

fs::path target_folder(const Value& spec) {
  if (const auto* path = spec.find("path"); path != nullptr && !path->text.empty())
    return path->text;
  const auto folders = data_folders("", spec.find("name")->text, {});
  if (folders.empty())
    throw ConfigError("neither IMPRINT_DATA nor HOME is set; say where to with path=FOLDER");
  return folders.front();
}

// The data set as it is read from `folder` alone, if it lets itself be told.
Built<Source> source_in(const fs::path& folder, Value spec, const KeyLog& keys) {
  const bool has_path = std::any_of(keys.docs.begin(), keys.docs.end(),
                                    [](const KeyDoc& doc) { return doc.path == "path"; });
  if (has_path) spec.set("path", Value::scalar(folder.string(), true));
  return source_of(spec);
}

}  // namespace

int data_list_command(const DataOptions& options) {
  load_data_plugins(options);
  std::vector<Row> rows{{"name", "what", "size", "from", "here"}};
  for (const auto& [name, item] : SourceRegistry::instance().items()) {
    const auto source = keyless(item);
    const auto size = source->origin().size;
    rows.push_back({name, item.about.summary, size.empty() ? "-" : size, from_words(*source),
                    here_words(*source)});
  }
  print_columns(rows);
  return 0;
}

int data_get_command(const DataOptions& options) {
  load_data_plugins(options);
  refuse_what_cannot_be_fetched(options.name);
  const auto spec = data_spec(options);
  const auto source = source_of(spec);
  if (is_here_and_right(*source.component, options.name)) return 0;
  const auto folder = target_folder(spec);
  const auto fetched = source_in(folder, spec, *source.reading);
  TransferLine line;
  Errand errand{.name = options.name,
                .origin = source.component->origin(),
                .folder = folder,
                .from = options.from,
                .complete = [&] { require_right_files(*fetched.component); }};
  errand.say = [&](const std::string& text) { line.say(text); };
  errand.on_transfer = [&](const std::string& file, int64_t done, int64_t whole) {
    line.draw(file, done, whole);
  };
  const auto place = fetch(errand);
  line.finish();
  fmt::print("{}: {} in {}, from {}\n", options.name,
             right_words(checked_files(*fetched.component)), folder.string(), place);
  return 0;
}

}  // namespace imprint
