#include "framework/reports/tensorboard_logger.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <protozero/pbf_builder.hpp>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "framework/data/formats/file.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;
using protozero::pbf_builder;
using protozero::pbf_tag_type;

// Field numbers of tensorboard/compat/proto/{event,summary,histogram,tensor}.proto.
enum class EventField : pbf_tag_type { wall_time = 1, step = 2, file_version = 3, summary = 5 };
enum class SummaryField : pbf_tag_type { value = 1 };
enum class ValueField : pbf_tag_type { tag = 1, scalar, image = 4, histo, tensor = 8, metadata };
enum class ImageField : pbf_tag_type { height = 1, width, colorspace, encoded };
enum class HistogramField : pbf_tag_type { min = 1, max, num, sum, sum_squares, limits, counts };
enum class MetadataField : pbf_tag_type { plugin_data = 1, data_class = 4 };
enum class PluginField : pbf_tag_type { name = 1 };
enum class TensorField : pbf_tag_type { dtype = 1, string_value = 8 };

constexpr int kDataClassTensor = 2;
constexpr int kTypeString = 7;
constexpr size_t kBuckets = 30;  // TensorBoard's own default

[[noreturn]] void fail(const std::string& what, const fs::path& path, int error) {
  throw std::runtime_error("cannot " + what + " " + path.string() + ": " +
                           std::system_category().message(error));
}

fs::path event_file(const fs::path& folder, std::string_view suffix) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail("create the folder", folder, error.value());
  return folder / ("events.out.tfevents." + std::string(suffix));
}

int open_file(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0) fail("create", path, errno);
  return fd;
}

// Seconds first: TensorBoard reads the files of a folder in the order of their names.
std::string dated_suffix() {
  return std::to_string(static_cast<int64_t>(wall_time_now())) + "." + unique_suffix();
}

constexpr std::array<uint32_t, 256> crc32c_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0x82F63B78u : 0u);
    table[i] = crc;
  }
  return table;
}

void append_little_endian(std::string& out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
}

uint32_t masked_crc32c(std::string_view bytes) {
  const auto crc = crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xA282EAD8u;
}

/// TFRecord: length, its checksum, the bytes, their checksum.
std::string framed(std::string_view bytes) {
  std::string record;
  record.reserve(bytes.size() + 16);
  append_little_endian(record, bytes.size(), 8);
  append_little_endian(record, masked_crc32c(record), 4);
  record += bytes;
  append_little_endian(record, masked_crc32c(bytes), 4);
  return record;
}

/// An event with one summary, of which `fill` writes the value.
template <typename Fill>
std::string summary_event(std::string_view tag, int64_t step, double wall_time, const Fill& fill) {
  std::string bytes;
  pbf_builder<EventField> event{bytes};
  event.add_double(EventField::wall_time, wall_time);
  event.add_int64(EventField::step, step);
  pbf_builder<SummaryField> summary{event, EventField::summary};
  pbf_builder<ValueField> value{summary, SummaryField::value};
  value.add_string(ValueField::tag, tag.data(), tag.size());
  fill(value);
  value.commit();
  summary.commit();
  return bytes;
}

/// The values without NaN and infinities, within the single precision to which TensorBoard rounds
/// bucket limits; so no range, sum or sum of squares below can overflow.
std::vector<double> drawable(std::span<const double> values) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  std::vector<double> kept;
  kept.reserve(values.size());
  for (const double value : values) {
    if (std::isfinite(value)) kept.push_back(std::clamp(value, -kLargest, kLargest));
  }
  return kept;
}

struct Buckets {
  double min = 0, max = 0;
  std::vector<double> limits, counts;  // upper limits; none without values
};

Buckets buckets(const std::vector<double>& values) {
  if (values.empty()) return {};
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double min = *least, range = *most - *least;
  if (range == 0) return {min, min, {min}, {static_cast<double>(values.size())}};

  Buckets result{min, *most, std::vector<double>(kBuckets), std::vector<double>(kBuckets)};
  for (size_t i = 0; i < kBuckets; ++i) result.limits[i] = min + range * (i + 1) / kBuckets;
  result.limits.back() = result.max;
  for (const double value : values) {
    const auto index = static_cast<size_t>((value - min) / range * kBuckets);
    result.counts[std::min(index, kBuckets - 1)] += 1;
  }
  return result;
}

}  // namespace

double wall_time_now() {
  using std::chrono::system_clock;
  return std::chrono::duration<double>(system_clock::now().time_since_epoch()).count();
}

uint32_t crc32c(std::string_view bytes) {
  static constexpr auto kTable = crc32c_table();
  uint32_t crc = ~0u;
  for (const char byte : bytes)
    crc = kTable[(crc ^ static_cast<uint8_t>(byte)) & 0xFF] ^ (crc >> 8);
  return ~crc;
}

TensorBoardLogger::TensorBoardLogger(const fs::path& folder)
    : TensorBoardLogger(folder, dated_suffix(), wall_time_now()) {}

TensorBoardLogger::TensorBoardLogger(const fs::path& folder, std::string_view suffix,
                                     double wall_time)
    : path_(event_file(folder, suffix)), file_(open_file(path_)) {
  std::string event;
  pbf_builder<EventField> builder{event};
  builder.add_double(EventField::wall_time, wall_time);
  builder.add_string(EventField::file_version, "brain.Event:2");
  write(event);
}

void TensorBoardLogger::scalar(std::string_view tag, double value, int64_t step, double wall_time) {
  write(summary_event(tag, step, wall_time, [&](auto& summary) {
    summary.add_float(ValueField::scalar, static_cast<float>(value));
  }));
}

void TensorBoardLogger::histogram(std::string_view tag, std::span<const double> values,
                                  int64_t step, double wall_time) {
  const auto kept = drawable(values);
  const auto [min, max, limits, counts] = buckets(kept);
  write(summary_event(tag, step, wall_time, [&](auto& summary) {
    pbf_builder<HistogramField> histogram{summary, ValueField::histo};
    histogram.add_double(HistogramField::min, min);
    histogram.add_double(HistogramField::max, max);
    histogram.add_double(HistogramField::num, static_cast<double>(kept.size()));
    histogram.add_double(HistogramField::sum, std::accumulate(kept.begin(), kept.end(), 0.0));
    histogram.add_double(HistogramField::sum_squares,
                         std::inner_product(kept.begin(), kept.end(), kept.begin(), 0.0));
    histogram.add_packed_double(HistogramField::limits, limits.begin(), limits.end());
    histogram.add_packed_double(HistogramField::counts, counts.begin(), counts.end());
  }));
}

void TensorBoardLogger::image(std::string_view tag, std::string_view png, int width, int height,
                              int channels, int64_t step, double wall_time) {
  write(summary_event(tag, step, wall_time, [&](auto& summary) {
    pbf_builder<ImageField> image{summary, ValueField::image};
    image.add_int32(ImageField::height, height);
    image.add_int32(ImageField::width, width);
    image.add_int32(ImageField::colorspace, channels);
    image.add_bytes(ImageField::encoded, png.data(), png.size());
  }));
}

void TensorBoardLogger::text(std::string_view tag, std::string_view markdown, int64_t step,
                             double wall_time) {
  write(summary_event(tag, step, wall_time, [&](auto& summary) {
    {
      pbf_builder<MetadataField> metadata{summary, ValueField::metadata};
      pbf_builder<PluginField> plugin{metadata, MetadataField::plugin_data};
      plugin.add_string(PluginField::name, "text");
      plugin.commit();
      metadata.add_enum(MetadataField::data_class, kDataClassTensor);
    }
    pbf_builder<TensorField> tensor{summary, ValueField::tensor};
    tensor.add_enum(TensorField::dtype, kTypeString);
    tensor.add_bytes(TensorField::string_value, markdown.data(), markdown.size());
  }));
}

void TensorBoardLogger::write(std::string_view event) {
  const auto record = framed(event);
  // The loop only goes round again after a short write, to learn its reason.
  for (size_t done = 0; done < record.size();) {
    const auto count = ::write(file_.get(), record.data() + done, record.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const int error = errno;
      // Records after a torn one would be lost to every reader.
      [[maybe_unused]] const int cut = ::ftruncate(file_.get(), size_);
      fail("write", path_, error);
    }
    done += static_cast<size_t>(count);
  }
  size_ += static_cast<int64_t>(record.size());
}

}  // namespace imprint
