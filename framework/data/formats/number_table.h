#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "framework/config/problems.h"
#include "framework/data/records.h"

namespace imprint {

// A table of numbers below a line of names, comma-separated, gzip-compressed or not. Whatever is
// wrong with it is thrown as ConfigError with its place.

/// The names of the columns.
std::vector<std::string> read_number_names(const std::filesystem::path& file);

/// [records, columns] double, some of which may be NaN or infinite; refuses a table without
/// records.
Tensor read_number_table(const std::filesystem::path& file);

/// Where the cell of a record stands, both counted from 0; the record -1 is the header. Reads the
/// file again, up to there.
Mark number_mark(const std::filesystem::path& file, int64_t record, int64_t column);

}  // namespace imprint
