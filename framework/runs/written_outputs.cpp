#include "framework/runs/written_outputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "framework/config/problems.h"
#include "framework/data/formats/bytes.h"
#include "framework/data/formats/npz_reader.h"
#include "framework/data/formats/number_table.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;

/// An array, and its column or what the names of its columns begin with.
struct OutputName {
  std::string array, column;
  bool numbered = false;
};
const std::array<OutputName, 5> output_names{{{"logits", "logit_", true},
                                              {"probabilities", "p_", true},
                                              {"scores", "score"},
                                              {"labels", "label"},
                                              {"members", "member"}}};

WrittenOutputs from_npz(const fs::path& file, const std::vector<std::string>& prefixes) {
  WrittenOutputs written;
  written.file = file;
  written.arrays = read_npz(file);
  written.called = [](const std::string& array) { return fmt::format("array '{}'", array); };
  written.place = [file](const std::string& array, const std::vector<int64_t>& index) {
    return fmt::format("{}: {}[{}]: ", file.string(), array, fmt::join(index, ", "));
  };
  std::vector<std::string> known;
  for (const auto& prefix : prefixes)
    for (const auto& name : output_names) known.push_back(prefix + name.array);
  for (const auto& [array, values] : written.arrays)
    if (std::find(known.begin(), known.end(), array) == known.end())
      written.refuse(fmt::format("unknown array {}{} (arrays: {})", excerpt(array),
                                 did_you_mean(array, known), joined(known)));
  return written;
}

/// The array of a column, and the column's number in it; nothing for an unknown name.
std::optional<std::pair<std::string, int64_t>> array_of(const std::string& column) {
  for (const auto& name : output_names) {
    if (!name.numbered && column == name.column) return std::pair{name.array, int64_t{0}};
    if (!name.numbered || !column.starts_with(name.column)) continue;
    int64_t number = 0;
    std::from_chars(column.data() + name.column.size(), column.data() + column.size(), number);
    if (column == fmt::format("{}{}", name.column, number)) return std::pair{name.array, number};
  }
  return std::nullopt;
}

/// Array -> number in it -> column of the file.
using OutputColumns = std::map<std::string, std::map<int64_t, int64_t>>;

OutputColumns columns_in(const fs::path& file) {
  static const std::vector<std::string> known{"label",   "member", "score", "logit_0",
                                              "logit_1", "p_0",    "p_1"};
  OutputColumns columns;
  const auto header = read_number_names(file);
  for (size_t i = 0; i < header.size(); ++i) {
    const auto column = static_cast<int64_t>(i);
    const auto found = array_of(header[i]);
    if (found && columns[found->first].emplace(found->second, column).second) continue;
    throw ConfigError(
        number_mark(file, -1, column).prefix() +
        (found ? fmt::format("there are two columns {}", excerpt(header[i]))
               : fmt::format("unknown column {}{} (columns: label, member, score, logit_0, "
                             "logit_1, ..., p_0, p_1, ...)",
                             excerpt(header[i]), did_you_mean(header[i], known))));
  }
  return columns;
}

/// [n, width] or, for arrays of one column, [n].
Tensor picked(const WrittenOutputs& written, const Tensor& values, const OutputName& name,
              const std::map<int64_t, int64_t>& columns) {
  std::vector<int64_t> places;
  for (const auto& [number, column] : columns) {
    if (number != static_cast<int64_t>(places.size()))
      written.refuse(fmt::format("has {0}{1}, but no {0}{2}", name.column, columns.rbegin()->first,
                                 places.size()));
    places.push_back(column);
  }
  return name.numbered ? values.index_select(1, torch::tensor(places))
                       : values.select(1, places[0]);
}

WrittenOutputs from_csv(const fs::path& file) {
  WrittenOutputs written;
  written.file = file;
  const auto columns = columns_in(file);
  const auto values = read_number_table(file);
  for (const auto& name : output_names)
    if (const auto found = columns.find(name.array); found != columns.end())
      written.arrays[name.array] = picked(written, values, name, found->second);
  written.called = [](const std::string& array) {
    const auto* name = std::find_if(output_names.begin(), output_names.end(),
                                    [&](const auto& each) { return each.array == array; });
    return fmt::format("column '{}{}'", name->column, name->numbered ? "0" : "");
  };
  written.place = [=](const std::string& array, const std::vector<int64_t>& index) {
    const auto column = columns.at(array).at(index.size() > 1 ? index[1] : 0);
    return number_mark(file, index[0], column).prefix();
  };
  return written;
}

}  // namespace

void WrittenOutputs::refuse(const std::string& why) const {
  throw ConfigError(fmt::format("{}: {}", file.string(), why));
}

WrittenOutputs read_written_outputs(const fs::path& file,
                                    const std::vector<std::string>& prefixes) {
  if (file.extension() == ".npz") return from_npz(file, prefixes);
  if (file.extension() == ".csv") return from_csv(file);
  throw ConfigError(file.string() +
                    ": outputs are read from files whose names end in .npz or .csv");
}

}  // namespace imprint
