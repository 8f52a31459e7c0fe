#pragma once

#include "framework/cli/commands.h"
#include "framework/data/fetching/verify.h"

namespace imprint {

void load_data_plugins(const DataOptions& options);

/// The map {name: NAME, key: value, ...} that the options describe. Throws ConfigError.
Value data_spec(const DataOptions& options);

/// The data set of such a map. Throws ConfigError for an unknown name or key.
Built<Source> source_of(const Value& spec);

/// Every file that the data set reads, compared with the published one. Throws ConfigError when
/// they are not there.
std::vector<FileCheck> checked_files(const Source& source);

}  // namespace imprint
