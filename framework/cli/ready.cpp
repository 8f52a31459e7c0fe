#include "framework/cli/ready.h"

#include <cstdlib>

#include "framework/config/load.h"
#include "framework/reports/assemble.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;

Value load(const RunOptions& options) {
  auto root = load_experiment_file(options.file, options.overrides);
  if (options.plugins.empty()) return root;
  auto* listed = root.find("plugins");
  std::vector<Value> all = listed == nullptr ? std::vector<Value>{} : listed->items;
  for (const auto& path : options.plugins) {
    all.push_back(Value::scalar(path));
    all.back().mark.file = "--plugin " + path;
  }
  root.set("plugins", Value::list(all));
  return root;
}

}  // namespace

Ready prepare(const RunOptions& options) {
  Ready ready;
  Problems problems;
  const auto root = load(options);
  try {
    ready.experiment = read_experiment(root, fs::path(options.file).stem().string());
  } catch (const ConfigError& error) {
    problems.add({}, error.what());
  }
  static const Value none;
  const auto* figures = root.find("figures");
  const auto* expect = root.find("expect");
  read_figures(figures == nullptr ? none : *figures, problems);
  ready.claims = read_claims(expect == nullptr ? none : *expect, problems);
  problems.raise();
  ready.plan = make_plan(ready.experiment);
  return ready;
}

fs::path store_folder(const RunOptions& options) {
  if (!options.store.empty()) return options.store;
  const char* given = std::getenv("IMPRINT_STORE");
  return given == nullptr ? "store" : given;
}

}  // namespace imprint
