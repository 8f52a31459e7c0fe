// One training epoch of the CCL paper's network (600-1024-512-256-128-100, tanh) on 5,000 records
// in batches of 128 by Imprint's trainer, one thread: prints seconds per epoch, and the GEMM limit
// measured in the same process, for benchmarks/run.
#include <ATen/Parallel.h>

#include <algorithm>
#include <chrono>

#include "framework/runs/experiment.h"

namespace imprint {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Best of many products of 1024-cubes: what this core can do at most.
double gemm_flops() {
  const auto a = torch::randn({1024, 1024}), b = torch::randn({1024, 1024});
  double best = 0;
  for (int i = 0; i < 60; ++i) {
    const auto start = Clock::now();
    a.mm(b);
    best = std::max(best, 2.0 * 1024 * 1024 * 1024 / since(start));
  }
  return best;
}

Value yaml(const std::string& text) { return parse_yaml(text, ""); }

// Seconds of the fastest of `epochs` epochs.
double fastest_epoch(int64_t epochs) {
  Problems problems;
  const auto data_spec = yaml("{name: prototypes, records: 10000}");
  const auto model_spec = yaml("{name: mlp, hidden: [1024, 512, 256, 128], activation: tanh}");
  const auto train_spec = yaml(
      "{epochs: " + std::to_string(epochs) +
      ", evaluate: {every: 1000000}, optimizer: {lr: 0.1, momentum: 0.9, weight_decay: 5e-4}}");
  const auto data =
      build(SourceRegistry::instance(), "dataset", data_spec, problems, {}).component->load();
  const Schedule schedule{Keys(train_spec, new_reading("train", problems))};
  const Split split{data.at(torch::arange(5000)), data.at(torch::arange(5000, 5100)), {}, {}, {}};
  auto chain = build_chain({Value::scalar("none")}, problems);
  problems.raise();
  std::vector<double> ends;
  const auto start = Clock::now();
  TrainingPlan plan{.split = split,
                    .schedule = schedule,
                    .chain = chain,
                    .first = {{}},
                    .build =
                        [&](const Shape& shape) {
                          return build(ModelRegistry::instance(), "model", model_spec, problems, {},
                                       shape)
                              .component;
                        },
                    .stream = Stream(0),
                    .device = torch::kCPU,
                    .measures = {},
                    .snapshots = {},
                    .on_snapshot = {},
                    .on_epoch = [&](const EpochRow&) { ends.push_back(since(start)); }};
  train(plan);
  double best = ends[1] - ends[0];
  for (size_t i = 2; i + 1 < ends.size(); ++i) best = std::min(best, ends[i] - ends[i - 1]);
  return best;
}

}  // namespace
}  // namespace imprint

int main() {
  at::set_num_threads(1);
  const double limit = imprint::gemm_flops();
  const double seconds = imprint::fastest_epoch(12);
  fmt::print("{{\"seconds\": {}, \"gemm_flops\": {}}}\n", seconds,
             std::max(limit, imprint::gemm_flops()));
  return 0;
}
