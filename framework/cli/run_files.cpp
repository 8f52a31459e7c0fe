#include <algorithm>
#include <cstdlib>

#include "framework/cli/ready.h"
#include "framework/reports/assemble.h"
#include "framework/reports/course.h"
#include "framework/reports/html.h"
#include "framework/reports/tables.h"

namespace imprint {

namespace fs = std::filesystem;

std::string read_share(const std::string& file) {
  const char* home = std::getenv("IMPRINT_HOME");
  std::error_code unknown;
  // Called without the launcher, the program lies two folders below its source tree.
  const auto tree = fs::read_symlink("/proc/self/exe", unknown).parent_path() / "../..";
  const auto path = (home == nullptr ? tree : fs::path(home)) / ".imprint/share" / file;
  return fs::exists(path) ? read_file(path) : "";
}

void note_missing_figures(Results& results) {
  if (read_share("vega.js").empty())
    results.notes.push_back(
        "The figure bundle was not installed, so figures are not drawn; ./imprint build installs "
        "it.");
}

void write_tables(const fs::path& folder, const Results& results) {
  write_file(folder / "results.csv", results_csv(results));
  write_file(folder / "metrics.csv", metrics_csv(results));
  write_file(folder / "results.json", results_json(results).dump(1) + "\n");
  write_file(folder / "report.html", html_report(results, read_share("vega.js")));
}

void write_results(const fs::path& folder, const Ready& ready, const Results& results,
                   const Store& store) {
  write_tables(folder, results);
  write_file(folder / "epochs.csv", epochs_csv(results));
  for (size_t i = 0; i < ready.experiment.cells.size(); ++i) {
    const auto& cell = ready.experiment.cells[i];
    const auto known = [&](const CellResult& each) { return each.id == cell.id; };
    if (std::any_of(results.cells.begin(), results.cells.end(), known))
      write_records(folder / "records" / (cell.id + ".npz"), cell, ready.plan.cells[i], store);
  }
}

}  // namespace imprint
