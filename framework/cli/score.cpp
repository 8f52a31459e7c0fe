#include <ATen/Parallel.h>
#include <unistd.h>

#include "framework/cli/ready.h"
#include "framework/cli/rewritten_lines.h"
#include "framework/config/digest.h"
#include "framework/registry/sources.h"
#include "framework/reports/score_outputs.h"
#include "framework/reports/tables.h"
#include "framework/runs/machine.h"
#include "framework/runs/run_folder.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;

// A file's name as that of a folder.
std::string folder_name(const fs::path& file) {
  auto name = file.filename().string();
  for (char& c : name)
    if (static_cast<unsigned char>(c) <= ' ' || c == '\\') c = '_';
  return name;
}

// What was scored, for the report and for the name of the run folder.
Value described(const ScoreOptions& options) {
  auto root = Value::map();
  const auto add = [&](const std::string& key, const fs::path& file) {
    root.set(key, Value::scalar(fs::absolute(file).lexically_normal().string(), true));
    root.set(key + "_sha256", Value::scalar(file_digest(file.string()), true));
  };
  add("score", options.file);
  if (!options.shadow.empty()) add("shadow", options.shadow);
  root.set("delta", Value::scalar(canonical(options.delta)));
  std::vector<Value> plugins;
  for (const auto& plugin : options.plugins) plugins.push_back(Value::scalar(plugin, true));
  if (!plugins.empty()) root.set("plugins", Value::list(plugins));
  return root;
}

void print_score(const Results& results, const fs::path& folder) {
  fmt::print("{}\n", console_report(results, terminal_width(STDOUT_FILENO, 120)));
  fmt::print("report       {}\n", (folder / "report.html").string());
  fmt::print("results      {}\n", (folder / "results.csv").string());
}

}  // namespace

int score_command(const ScoreOptions& options) {
  at::set_num_threads(1);
  for (const auto& path : options.plugins) load_plugin(path, Mark{"--plugin " + path, 0, 0});
  const auto outputs = read_outputs(options.file, options.shadow);
  auto [results, attacks, failed] = score_outputs(outputs, {.delta = options.delta});
  const auto resolved = described(options);
  const auto name = folder_name(options.file);
  results.name = "score-" + name;
  results.config = to_yaml(resolved);
  results.environment = environment();
  results.cells.front().id = fs::path(name).stem().string();
  note_missing_figures(results);
  const auto folder = open_run_folder(options.out, results.name, resolved);
  write_file(folder.path / "score.yaml", results.config);
  write_file(folder.path / "environment.json", results.environment.dump(1) + "\n");
  write_tables(folder.path, results);
  write_records(folder.path / "records" / (results.cells.front().id + ".npz"),
                candidates_of(outputs.target), outputs.target.y, attacks);
  finish_run_folder(folder.path);
  print_score(results, folder.path);
  return failed ? 1 : 0;
}

}  // namespace imprint
