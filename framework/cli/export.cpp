#include <fmt/ranges.h>

#include "framework/cli/ready.h"
#include "framework/data/formats/weights.h"
#include "framework/runs/addresses.h"
#include "framework/runs/release.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;

// The place of the cell that was asked for, or of the only one there is.
size_t find_cell(const Experiment& experiment, const std::string& id) {
  std::vector<std::string> ids;
  for (const auto& cell : experiment.cells) ids.push_back(cell.id);
  if (id.empty() && ids.size() == 1) return 0;
  const auto found = std::find(ids.begin(), ids.end(), id);
  if (found != ids.end()) return static_cast<size_t>(found - ids.begin());
  throw ConfigError(id.empty() ? fmt::format("there are {} cells; choose one with --cell:\n  {}",
                                             ids.size(), joined(ids, "\n  "))
                               : fmt::format("there is no cell '{}'{} (cells: {})", id,
                                             did_you_mean(id, ids), joined(ids)));
}

// What has to be done to a record before the network sees it.
void say_preparation(const Model& model, const Preparation& preparation) {
  if (preparation.normalise == "off" && !preparation.centre) return;
  const auto buffers = model.named_buffers(false);
  const auto& shift = buffers["shift"];
  const auto& scale = buffers["scale"];
  const auto numbers = [](const Tensor& tensor) {
    const auto flat = tensor.to(torch::kDouble).flatten().contiguous();
    return std::vector<double>(flat.const_data_ptr<double>(),
                               flat.const_data_ptr<double>() + flat.numel());
  };
  if (shift.numel() <= 4)
    fmt::print("it takes (x - [{:.6g}]) / [{:.6g}] per channel, x in [0, 1]\n",
               fmt::join(numbers(shift), ", "), fmt::join(numbers(scale), ", "));
  else
    fmt::print("it takes records normalised by its members: (x - mean) / deviation\n");
}

}  // namespace

int export_command(RunOptions options, const std::string& cell, const std::string& weights) {
  if (fs::is_directory(options.file))
    options.file = (fs::path(options.file) / "config.yaml").string();
  const auto ready = prepare(options);
  const auto number = find_cell(ready.experiment, cell);
  const auto folder = store_folder(options.store);
  const auto& release = ready.plan.signals.at(ready.plan.cells[number].signals).release;
  const auto address = snapshot_address(release.train, release.epoch);
  if (!fs::exists(folder) || !Store(folder).has("snapshot", address))
    throw ConfigError(fmt::format("{} has no model of cell {}; run it first: imprint run {}",
                                  folder.string(), ready.experiment.cells[number].id,
                                  options.file));
  const auto seen = view_of(ready.plan.trainings.at(release.train));
  const auto model = load_release(ready.plan, release, Store(folder), seen.split).trained.model;
  const auto named = named_weights(network_of(*model));
  save_weights(weights, named);
  fmt::print("{}: {} tensors of {}, epoch {}\n", weights, named.size(),
             ready.experiment.cells[number].id, release.epoch);
  say_preparation(*model, ready.plan.trainings.at(release.train).preparation);
  return 0;
}

}  // namespace imprint
