#include "framework/runs/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "framework/runs/history.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;

constexpr std::array kind_words{"started", "epoch", "done", "failed", "left", "note"};

Progress parsed(const std::string& line, size_t worker) {
  const auto json = nlohmann::json::parse(line);
  const auto word =
      std::find(kind_words.begin(), kind_words.end(), json.at("kind").get<std::string>());
  Progress progress{static_cast<Progress::Kind>(word - kind_words.begin()), worker, json.at("job")};
  progress.message = json.value("message", "");
  progress.seconds = json.value("seconds", 0.0);
  progress.time = json.value("time", 0.0);
  if (json.contains("row")) progress.row = epoch_row_from(json["row"]);
  return progress;
}

}  // namespace

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

ProgressFile::ProgressFile(const fs::path& folder, size_t worker)
    : stream_(folder / fmt::format("{}.jsonl", worker), std::ios::app) {}

void ProgressFile::put(const Progress& progress) {
  nlohmann::json json{{"kind", kind_words[static_cast<size_t>(progress.kind)]},
                      {"job", progress.address},
                      {"time", seconds_since_1970()}};
  if (progress.kind == Progress::Kind::epoch) json["row"] = to_json(progress.row);
  if (progress.kind == Progress::Kind::done) json["seconds"] = progress.seconds;
  if (!progress.message.empty()) json["message"] = progress.message;
  // A message may quote a file's bytes.
  constexpr auto replace = nlohmann::json::error_handler_t::replace;
  stream_ << json.dump(-1, ' ', false, replace) + "\n" << std::flush;
  stream_.clear();
}

void Follower::poll(const std::function<void(const Progress&)>& listen) {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder_, none)) {
    if (entry.path().extension() != ".jsonl") continue;
    auto& at = at_[entry.path()];
    const auto worker = static_cast<size_t>(std::atoll(entry.path().stem().c_str()));
    std::ifstream stream(entry.path());
    stream.seekg(at);
    std::string line;
    while (std::getline(stream, line) && !stream.eof()) {
      at += static_cast<std::streamoff>(line.size()) + 1;
      // A line that a full disk cut in two.
      if (nlohmann::json::accept(line)) listen(parsed(line, worker));
    }
  }
}

}  // namespace imprint
