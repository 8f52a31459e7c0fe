#include "framework/runs/run_record.h"

#include <algorithm>

#include "framework/config/digest.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int run_format = 1;
constexpr auto record_file = "plan.json";

json to_json(const RecordedJob& job) {
  return {{"address", job.address}, {"kind", job.kind},   {"title", job.title},
          {"epochs", job.epochs},   {"after", job.after}, {"makes", job.makes}};
}

RecordedJob job_from(const json& from) {
  return {from.at("address"), from.at("kind"),  from.at("title"),
          from.at("epochs"),  from.at("after"), from.at("makes")};
}

}  // namespace

std::string RunRecord::digest() const {
  Sha256 digest;
  for (const auto& job : jobs) digest.field(job.address);
  return digest.hex();
}

RunRecord run_record(const Plan& plan, const std::string& name, const std::string& command,
                     const fs::path& store) {
  RunRecord record{name, command, fs::current_path(), fs::absolute(store).lexically_normal(), {}};
  for (const auto& job : plan.jobs) {
    const auto epochs =
        job.kind == Job::Kind::train ? plan.trainings.at(job.address).schedule->epochs : 0;
    record.jobs.push_back(
        {job.address, job.folder(), job.title, epochs, job.after, plan.made_by(job)});
  }
  return record;
}

void write_run_record(const fs::path& run, const RunRecord& record) {
  json file{{"format", run_format},
            {"imprint", build_version()},
            {"name", record.name},
            {"command", record.command},
            {"folder", record.folder.string()},
            {"store", record.store.string()}};
  auto& jobs = file["jobs"] = json::array();
  for (const auto& job : record.jobs) jobs.push_back(to_json(job));
  write_file(run / record_file, file.dump(1) + "\n");
  const auto place = fs::canonical(run).string();
  std::error_code error;
  fs::create_directories(record.store / "runs", error);
  write_file(record.store / "runs" / sha256(place).substr(0, 16), place + "\n");
}

RunRecord read_run_record(const fs::path& run) {
  const auto file = run / record_file;
  if (!fs::exists(file)) {
    const bool older = fs::exists(run / "config.yaml");
    throw ConfigError(
        older ? fmt::format("{}: written by another version of Imprint (it has no plan.json); run "
                            "{} again",
                            run.string(), (run / "config.yaml").string())
              : fmt::format("{}: not the folder of a run (it has no plan.json); runs are in "
                            "runs/<name>/<date>, the newest is runs/latest",
                            run.string()));
  }
  try {
    const auto from = json::parse(read_file(file));
    if (from.at("format") != run_format)
      throw ConfigError(fmt::format(
          "{}: written by another version of Imprint (format {}, this one reads {}); run {} again",
          file.string(), from.at("format").dump(), run_format, (run / "config.yaml").string()));
    RunRecord record{from.at("name"),
                     from.at("command"),
                     from.at("folder").get<std::string>(),
                     from.at("store").get<std::string>(),
                     {}};
    for (const auto& job : from.at("jobs")) record.jobs.push_back(job_from(job));
    return record;
  } catch (const json::exception& error) {
    throw ConfigError(fmt::format("{}: damaged: {}", file.string(), error.what()));
  }
}

bool is_stored(const RecordedJob& job, const Store& store) {
  return std::all_of(job.makes.begin(), job.makes.end(),
                     [&](const auto& each) { return store.has(each.first, each.second); });
}

std::vector<fs::path> runs_of(const Store& store) {
  std::vector<fs::path> runs;
  for (const auto& name : store.entries("runs")) {
    auto place = read_file(store.root() / "runs" / name);
    place = place.substr(0, place.find('\n'));
    if (fs::exists(fs::path(place) / record_file)) runs.emplace_back(place);
  }
  return runs;
}

}  // namespace imprint
