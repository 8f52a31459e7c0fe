#include "framework/data/fetching/download.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <system_error>
#include <thread>

#include "framework/data/fetching/verify.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;

constexpr long connect_seconds = 10, stalled_seconds = 30, most_redirections = 10;
constexpr long status_whole = 200, status_beyond_the_end = 416;
constexpr int most_tries = 5;

[[noreturn]] void refuse_to_write(const fs::path& file, int error) {
  throw ConfigError(fmt::format("{}: cannot be written: {}", file.string(), std::strerror(error)));
}

// A file that grows as bytes arrive. An empty one leaves nothing.
class PartFile {
 public:
  explicit PartFile(fs::path path) : path_(std::move(path)) {
    fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd_ < 0) refuse_to_write(path_, errno);
    size_ = std::max<int64_t>(::lseek(fd_, 0, SEEK_END), 0);
  }
  ~PartFile() {
    ::close(fd_);
    if (size_ == 0) ::unlink(path_.c_str());
  }
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  int64_t size() const { return size_; }

  /// Empties it.
  bool restart() {
    size_ = 0;
    return ::ftruncate(fd_, 0) == 0 && ::lseek(fd_, 0, SEEK_SET) == 0;
  }

  bool write(const char* data, size_t bytes) {
    while (bytes > 0) {
      const auto wrote = ::write(fd_, data, bytes);
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote < 0) return false;
      size_ += wrote;
      data += wrote;
      bytes -= static_cast<size_t>(wrote);
    }
    return true;
  }

 private:
  fs::path path_;
  int fd_ = -1;
  int64_t size_ = 0;
};

// One request, and what has come of it.
struct Request {
  CURL* curl;
  PartFile& part;
  const OnTransfer& on_transfer;
  int64_t received = 0, whole = 0;
  int write_error = 0;

  bool begin() {
    long status = 0;
    curl_off_t length = -1;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    // A server that knows no ranges sends the whole file.
    if (status == status_whole && part.size() > 0 && !part.restart()) return false;
    whole = length < 0 ? 0 : part.size() + length;
    return true;
  }

  bool take(const char* data, size_t bytes) {
    if ((received == 0 && !begin()) || !part.write(data, bytes)) {
      write_error = errno;
      return false;
    }
    received += static_cast<int64_t>(bytes);
    if (on_transfer) on_transfer(part.size(), whole);
    return true;
  }
};

size_t take_bytes(char* data, size_t, size_t bytes, void* request) {
  return static_cast<Request*>(request)->take(data, bytes) ? bytes : CURL_WRITEFUNC_ERROR;
}

// How a request ended.
struct Ending {
  CURLcode code = CURLE_OK;
  long status = 0;
  bool received = false;
  int write_error = 0;
  std::string words;
};

Ending request(const std::string& url, PartFile& part, const OnTransfer& on_transfer) {
  static const auto initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  TORCH_CHECK(initialised == CURLE_OK, "libcurl cannot be initialised");
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> handle(curl_easy_init(),
                                                                   curl_easy_cleanup);
  auto* const curl = handle.get();
  TORCH_CHECK(curl != nullptr, "libcurl cannot be initialised");
  Request request{curl, part, on_transfer};
  std::array<char, CURL_ERROR_SIZE> words{};
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "imprint");
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl, CURLOPT_MAXREDIRS, most_redirections);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, connect_seconds);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, stalled_seconds);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, words.data());
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_bytes);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &request);
  // Not CURLOPT_RESUME_FROM, which fails where a server knows no ranges.
  const auto rest = fmt::format("{}-", part.size());
  if (part.size() > 0) curl_easy_setopt(curl, CURLOPT_RANGE, rest.c_str());
  Ending ending;
  ending.code = curl_easy_perform(curl);
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &ending.status);
  ending.received = request.received > 0;
  ending.write_error = request.write_error;
  ending.words = words[0] == '\0' ? curl_easy_strerror(ending.code) : words.data();
  if (ending.code == CURLE_HTTP_RETURNED_ERROR)
    ending.words = fmt::format("the server answers {}", ending.status);
  return ending;
}

// Asks again as long as every request brings something.
void request_all(const std::string& url, const fs::path& file, const OnTransfer& on_transfer) {
  for (int tries = 1;; ++tries) {
    PartFile part(file);
    const auto ending = request(url, part, on_transfer);
    if (ending.code == CURLE_OK && part.size() > 0) return;
    if (ending.code == CURLE_OK) throw PlaceError("the server sends an empty file");
    // All of it is there already; whether it is right, the digest will tell.
    if (ending.status == status_beyond_the_end && part.size() > 0) return;
    if (ending.write_error != 0) refuse_to_write(file, ending.write_error);
    if (!ending.received || tries == most_tries)
      throw PlaceError(ending.words +
                       (part.size() > 0 ? fmt::format("; {} bytes are kept in {}, the same command "
                                                      "goes on from there",
                                                      part.size(), file.string())
                                        : ""));
    std::this_thread::sleep_for(std::chrono::milliseconds(200) * tries);
  }
}

}  // namespace

void download(const std::string& url, const std::string& digest, const fs::path& file,
              const OnTransfer& on_transfer) {
  const fs::path part = file.string() + ".part", wrong = file.string() + ".wrong";
  const auto find = [&] { return digest.empty() ? "" : file_digest(part, digest, false); };
  if (digest.empty()) fs::remove(part);
  const bool resumed = fs::exists(part);
  request_all(url, part, on_transfer);
  auto found = find();
  if (found != digest && resumed) {  // the piece from before may be of another file
    fs::remove(part);
    request_all(url, part, on_transfer);
    found = find();
  }
  if (found != digest) {
    fs::rename(part, wrong);
    throw PlaceError(fmt::format("{}: expected {}, found {}; kept as {}", file.filename().string(),
                                 digest, found, wrong.string()));
  }
  fs::rename(part, file);
}

}  // namespace imprint
