#pragma once

#include <filesystem>

#include "framework/data/dataset.h"
#include "framework/data/places.h"

namespace imprint {

/// Records as a source gave them, with the digest of their contents.
struct Loaded {
  Dataset data;
  std::string digest;
};

/// Bytes [shape] to decode records into. Above a gigabyte they lie in a file without a name under
/// data_home(), so that they may be more than the machine's memory.
Tensor room_for(const std::vector<int64_t>& shape);

/// The records of a source that reads files, decoded once into a file under data_home()/cache that
/// is memory-mapped from then on, so that all workers of a machine share one copy. `keys` are the
/// keys that the source itself read. A source of small files, or one that makes its records up, is
/// loaded directly; so is any when the cache cannot be written, with a note on the error stream. A
/// changed file (name, size, time of change), key or reader makes a new entry, which takes the
/// place of the old one.
Loaded load_records(const Source& source, const Component& about, const std::string& keys);

}  // namespace imprint
