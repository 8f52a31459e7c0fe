#include "framework/data/formats/bytes.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "framework/config/problems.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;

// A gzip stream that also reads plain files.
class FileBytes final : public ByteSource {
 public:
  explicit FileBytes(const fs::path& path) : ByteSource(path.string()) {
    if (std::error_code unknown; fs::is_directory(path, unknown))
      refuse("is a folder, expected a file");
    errno = 0;
    file_ = gzopen(path.c_str(), "rbe");
    if (file_ == nullptr) refuse(fmt::format("cannot be read: {}", std::strerror(errno)));
    gzbuffer(file_, 1 << 18);
  }
  ~FileBytes() override { gzclose(file_); }
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

 protected:
  size_t take(void* to, size_t bytes) override {
    const auto got = gzread(file_, to, static_cast<unsigned>(std::min<size_t>(bytes, 1 << 30)));
    if (got < 0) refuse(fmt::format("damaged: {}", reason()));
    return static_cast<size_t>(got);
  }

  void check_end() override {
    int code = 0;
    gzerror(file_, &code);
    if (code == Z_BUF_ERROR) refuse("damaged: its gzip stream ends too early");
  }

 private:
  // Without the name of the file, which zlib puts in front.
  std::string reason() {
    int code = 0;
    const std::string why = gzerror(file_, &code);
    return why.starts_with(name() + ": ") ? why.substr(name().size() + 2) : why;
  }

  gzFile file_ = nullptr;
};

// Bytes of the UTF-8 character that `text` starts with; 0 if it starts with none.
size_t utf8_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const size_t length = first < 0x80   ? 1
                        : first < 0xc2 ? 0
                        : first < 0xe0 ? 2
                        : first < 0xf0 ? 3
                                       : 4;
  if (first > 0xf4 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return 0;
  if (length < 3) return length;
  // Overlong forms, surrogates and what lies beyond Unicode.
  const auto second = static_cast<unsigned char>(text[1]);
  const bool good = first == 0xe0   ? second >= 0xa0
                    : first == 0xed ? second < 0xa0
                    : first == 0xf0 ? second >= 0x90
                    : first == 0xf4 ? second < 0x90
                                    : true;
  return good ? length : 0;
}

}  // namespace

size_t ByteSource::some(void* to, size_t bytes) {
  const auto got = take(to, bytes);
  if (got == 0) check_end();
  return got;
}

void ByteSource::read(void* to, size_t bytes) {
  auto* at = static_cast<char*>(to);
  while (bytes > 0) {
    const auto got = take(at, bytes);
    if (got == 0) refuse(fmt::format("truncated: {} bytes are missing", bytes));
    at += got;
    bytes -= got;
  }
}

bool ByteSource::at_end() {
  char one = 0;
  return some(&one, 1) == 0;
}

void ByteSource::refuse(const std::string& why) const {
  throw ConfigError(fmt::format("{}: {}", name_, why));
}

std::unique_ptr<ByteSource> open_file(const fs::path& file) {
  return std::make_unique<FileBytes>(file);
}

LineReader::LineReader(ByteSource& source) : source_(source), buffer_(size_t{1} << 20) {}

std::optional<std::string_view> LineReader::next() {
  for (size_t searched = 0;;) {
    const auto* start = buffer_.data() + from_;
    const auto length = to_ - from_;
    if (const auto* end = std::memchr(start + searched, '\n', length - searched)) {
      const auto line = static_cast<size_t>(static_cast<const char*>(end) - start);
      from_ += line + 1;
      return given({start, line});
    }
    searched = length;
    if (fill()) continue;
    if (length == 0) return std::nullopt;
    from_ = to_;
    return given({buffer_.data() + to_ - length, length});
  }
}

// Reads on behind the line that is not complete yet; false at the end.
bool LineReader::fill() {
  if (from_ > 0) std::memmove(buffer_.data(), buffer_.data() + from_, to_ - from_);
  to_ -= from_;
  from_ = 0;
  if (to_ > longest)
    source_.refuse(fmt::format("line {} is longer than {} MB", number_ + 1, longest >> 20));
  if (to_ == buffer_.size()) buffer_.resize(std::min(2 * buffer_.size(), longest + 1));
  const auto got = source_.some(buffer_.data() + to_, buffer_.size() - to_);
  to_ += got;
  return got > 0;
}

std::string_view LineReader::given(std::string_view line) {
  if (++number_ == 1) {
    if (line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
    if (line.starts_with("\xff\xfe") || line.starts_with("\xfe\xff"))
      source_.refuse("is UTF-16 text, expected UTF-8");
  }
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::string printable(std::string_view text, size_t most) {
  std::string shown;
  while (!text.empty()) {
    if (shown.size() >= most) return shown + "...";
    const auto length = utf8_length(text);
    const bool plain = length > 1 || (length == 1 && text[0] >= ' ' && text[0] != 0x7f);
    shown += plain ? std::string(text.substr(0, length))
                   : fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return shown;
}

std::string excerpt(std::string_view text) { return "'" + printable(text) + "'"; }

}  // namespace imprint
