#include <fmt/format.h>

#include "framework/cli/data_source.h"
#include "framework/data/formats/npz.h"

namespace imprint {
namespace {

constexpr int found_wrong = 2;
constexpr size_t most_listed_classes = 12, most_listed_files = 12;

// 70,000
std::string with_commas(int64_t count) {
  auto text = std::to_string(count);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<size_t>(at), ",");
  return text;
}

std::string shape_words(const std::vector<int64_t>& shape) {
  std::vector<std::string> sizes;
  for (const auto size : shape) sizes.push_back(std::to_string(size));
  return joined(sizes, " x ");
}

// NumPy's name of the type, or nothing.
std::string numpy_type(torch::ScalarType type) {
  switch (type) {
    case torch::kUInt8:
      return "|u1";
    case torch::kInt8:
      return "|i1";
    case torch::kInt16:
      return "<i2";
    case torch::kInt32:
      return "<i4";
    case torch::kInt64:
      return "<i8";
    case torch::kFloat16:
      return "<f2";
    case torch::kFloat32:
      return "<f4";
    case torch::kFloat64:
      return "<f8";
    case torch::kBool:
      return "|b1";
    default:
      return "";
  }
}

// "uint8", or "bits" where eight of them share a byte.
std::string type_words(const Records& records) {
  if (records.packed_features() > 0) return "bits";
  const auto name = numpy_type(records.type());
  if (name.empty()) return c10::toString(records.type());
  const std::map<char, std::string> kinds{
      {'u', "uint"}, {'i', "int"}, {'f', "float"}, {'b', "bool"}};
  const auto bits = name[1] == 'b' ? "" : std::to_string(8 * (name[2] - '0'));
  return kinds.at(name[1]) + bits;
}

bool print_files(const std::vector<FileCheck>& checks) {
  const auto known = [](const FileCheck& check) { return check.known(); };
  if (checks.size() > most_listed_files && std::none_of(checks.begin(), checks.end(), known)) {
    fmt::print("  {} files from {} on, no published digests are known\n",
               with_commas(static_cast<int64_t>(checks.size())), checks.front().file.string());
    return true;
  }
  bool right = true;
  for (const auto& check : checks) {
    right = right && check.right();
    fmt::print("  {}: {}\n", check.file.string(),
               !check.known()  ? "no published digest is known"
               : check.right() ? "as published, " + check.found
                               : "NOT as published: " + check.words());
  }
  return right;
}

void print_classes(const std::vector<int64_t>& counts) {
  const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
  if (*least == *most) {
    fmt::print("  {} records of each class\n", with_commas(*least));
  } else if (counts.size() <= most_listed_classes) {
    std::vector<std::string> words;
    for (const auto count : counts) words.push_back(with_commas(count));
    fmt::print("  records of classes 0 to {}: {}\n", counts.size() - 1, joined(words, " "));
  } else {
    fmt::print("  between {} (class {}) and {} (class {}) records of a class\n",
               with_commas(*least), least - counts.begin(), with_commas(*most),
               most - counts.begin());
  }
}

void print_duplicates(const Census& census, int64_t all, int64_t training) {
  const auto words = [](int64_t count) { return count == 0 ? "none" : with_commas(count); };
  if (training == 0) {
    fmt::print("  records that occur more than once: {}\n", words(census.repeated_in_training));
  } else {
    fmt::print(
        "  records that occur more than once: {} of {} in the training part, {} of {} in "
        "the test part\n",
        words(census.repeated_in_training), with_commas(training), words(census.repeated_in_test),
        with_commas(all - training));
    fmt::print("  test records that occur in the training part, too: {}\n",
               words(census.test_in_training));
  }
  if (census.contradicting > 0)
    fmt::print("  records that occur with another label, too: {}\n", words(census.contradicting));
}

void print_census(const Dataset& data, int64_t training) {
  const auto parts = training < data.size() ? training : 0;
  const auto census = take_census(data, parts);
  fmt::print("  {} records of {}, {}, {} classes\n", with_commas(data.size()),
             shape_words(data.x.shape()), type_words(data.x), data.classes);
  fmt::print("  values from {:g} to {:g}\n", census.lowest, census.highest);
  if (census.not_finite > 0)
    fmt::print("  values that are no finite numbers: {}\n", with_commas(census.not_finite));
  print_classes(census.per_class);
  print_duplicates(census, data.size(), parts);
}

void add_array(NpzWriter& writer, const std::string& name, const Tensor& values) {
  const auto known = !numpy_type(values.scalar_type()).empty();
  const auto flat = (known ? values : values.to(torch::kFloat32)).contiguous();
  writer.add(name, numpy_type(flat.scalar_type()), flat.sizes().vec(), flat.const_data_ptr(),
             flat.nbytes());
}

}  // namespace

int data_check_command(const DataOptions& options) {
  load_data_plugins(options);
  const auto source = source_of(data_spec(options));
  const auto checks = checked_files(*source.component);
  fmt::print("{}{}\n", options.name, checks.empty() ? ", made up" : "");
  const bool right = print_files(checks);
  std::fflush(stdout);  // a large data set takes its time to load
  const auto data = source.component->load();
  print_census(data, source.component->origin().training);
  return right ? 0 : found_wrong;
}

int data_export_command(const DataOptions& options) {
  load_data_plugins(options);
  const auto source = source_of(data_spec(options));
  if (options.file.extension() != ".npz")
    throw ConfigError(fmt::format("'{}' should end in .npz", options.file.string()));
  const auto data = source.component->load();
  try {
    NpzWriter writer(options.file);
    add_array(writer, "x", data.x.all());
    add_array(writer, "y", data.y);
    writer.close();
  } catch (const std::runtime_error& error) {
    throw ConfigError(error.what());
  }
  fmt::print("wrote {}: {} records of {} as x, their classes as y\n", options.file.string(),
             with_commas(data.size()), shape_words(data.x.shape()));
  return 0;
}

}  // namespace imprint
