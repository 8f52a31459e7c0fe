// Imprint's side of the benchmarks, one thread: `imprint_side WHAT [FOLDER]` prints a line of JSON
// for benchmarks/run.
//
//   mlp      seconds per epoch of the CCL paper's network (600-1024-512-256-128-100, tanh) on
//            5,000 records in batches of 128, and the GEMM limit
//   resnet   seconds per epoch of ResNet-20 on 10,000 (or FOLDER, a number) images of 32 x 32 with
//            crop and flip, batches of 128, and what its convolutions take alone
//   cifar    seconds to read CIFAR-10's binary version from FOLDER, from the source and from the
//            cache
//   texas    seconds to make one epoch's batches of Texas100-shaped records
//   attacks  seconds of attacks' inner work, see attack_side.h
#include <ATen/Parallel.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "benchmarks/attack_side.h"
#include "benchmarks/timing.h"
#include "framework/data/cache.h"
#include "framework/runs/experiment.h"

namespace imprint {
namespace {

// Best of many products of 1024-cubes: what this core can do at most.
double gemm_flops() {
  const auto a = torch::randn({1024, 1024}), b = torch::randn({1024, 1024});
  return 2.0 * 1024 * 1024 * 1024 / fastest(60, [&] { a.mm(b); });
}

// Seconds of the fastest epoch but the first of a training on the first `members` of `data`.
double fastest_epoch(const Dataset& data, int64_t members, const std::string& model,
                     const std::string& train_keys, const Augmentation& augment) {
  Problems problems;
  const auto model_spec = parse_yaml(model, "");
  const auto train_spec = parse_yaml(train_keys, "");
  const Schedule schedule{Keys(train_spec, new_reading("train", problems))};
  const Split split{
      data.at(torch::arange(members)), data.at(torch::arange(members, members + 100)), {}, {}, {}};
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
                    .augment = augment,
                    .load = {},
                    .stream = Stream(0),
                    .device = torch::kCPU,
                    .measures = {},
                    .snapshots = {},
                    .on_snapshot = {},
                    .on_epoch = [&](const EpochRow&) { ends.push_back(since(start)); }};
  train(plan);
  double best = ends[1] - ends[0];
  // The last epoch ends with an evaluation.
  for (size_t i = 2; i + 1 < ends.size(); ++i) best = std::min(best, ends[i] - ends[i - 1]);
  return best;
}

std::string schedule(int64_t epochs, const std::string& more) {
  return fmt::format(
      "{{epochs: {}, evaluate: {{every: 1000000}}, optimizer: {{lr: 0.1, momentum: 0.9, "
      "weight_decay: 5e-4}}{}}}",
      epochs, more);
}

void mlp() {
  Problems problems;
  const auto spec = parse_yaml("{name: prototypes, records: 10000}", "");
  const auto data =
      build(SourceRegistry::instance(), "dataset", spec, problems, {}).component->load();
  const auto limit = gemm_flops();
  const auto seconds =
      fastest_epoch(data, 5000, "{name: mlp, hidden: [1024, 512, 256, 128], activation: tanh}",
                    schedule(12, ""), {});
  fmt::print("{{\"seconds\": {}, \"gemm_flops\": {}}}\n", seconds, std::max(limit, gemm_flops()));
}

// Forward and backward of one convolution alone, channels last, as long as the whole epoch needs.
double convolution_seconds(int64_t inputs, int64_t outputs, int64_t side, int64_t size,
                           int64_t stride, bool input_gradient) {
  constexpr auto last = torch::MemoryFormat::ChannelsLast;
  const auto x = torch::randn({128, inputs, side, side}).contiguous(last);
  const auto weight = torch::randn({outputs, inputs, size, size}).contiguous(last);
  const auto back = torch::conv2d(x, weight, {}, stride, size / 2);
  return fastest(5, [&] {
    torch::conv2d(x, weight, {}, stride, size / 2);
    torch::convolution_backward(back, x, weight, c10::nullopt, {stride, stride},
                                {size / 2, size / 2}, {1, 1}, false, {0, 0}, 1,
                                {input_gradient, true, false});
  });
}

double resnet20_convolutions() {
  double step = convolution_seconds(3, 16, 32, 3, 1, false);
  int64_t inputs = 16, side = 32;
  for (const int64_t width : {16, 32, 64}) {
    const int64_t stride = width == 16 ? 1 : 2;
    step += convolution_seconds(inputs, width, side, 3, stride, true);
    if (stride == 2) step += convolution_seconds(inputs, width, side, 1, 2, true);
    side /= stride;
    step += 5 * convolution_seconds(width, width, side, 3, 1, true);
    inputs = width;
  }
  return step * 10'000 / 128;
}

void resnet(int64_t images) {
  const Dataset data{torch::randint(0, 256, {images + 100, 3, 32, 32}, torch::kUInt8),
                     torch::randint(0, 10, {images + 100}, torch::kLong), 10};
  const auto limit = resnet20_convolutions();
  const auto seconds = [&](const std::string& more) {
    return fastest_epoch(data, images, "{name: resnet, depth: 20}", schedule(3, more), {4, true});
  };
  const auto full = seconds("");
  fmt::print("{{\"seconds\": {}, \"convolutions\": {}", full,
             std::min(limit, resnet20_convolutions()) * static_cast<double>(images) / 10'000);
  // Without instructions for it, bfloat16 takes many times as long.
  if (__builtin_cpu_supports("avx512bf16"))
    fmt::print(", \"bfloat16\": {}", seconds(", precision: bfloat16"));
  fmt::print("}}\n");
}

// Drops a file's pages, so that the next read comes from the disk.
void forget(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
  ::close(descriptor);
}

void cifar(const std::string& folder) {
  Problems problems;
  const auto spec = parse_yaml(fmt::format("{{name: cifar10, path: '{}'}}", folder), "");
  const auto source = build(SourceRegistry::instance(), "dataset", spec, problems, {});
  problems.raise();
  const auto sum = [](const Dataset& data) {
    return data.x.rows(0, data.size()).sum().item<int64_t>();
  };
  const auto cold = [&](const auto& read) {
    double best = 1e30;
    for (int i = 0; i < 3; ++i) {
      for (const auto& file : source.component->files()) forget(file);
      for (const auto& entry : std::filesystem::directory_iterator(data_home() / "cache"))
        forget(entry.path());
      best = std::min(best, fastest(1, read));
    }
    return best;
  };
  const auto from_source = [&] { sum(source.component->load()); };
  const auto from_cache = [&] { sum(load_records(*source.component, *source.about, "").data); };
  from_cache();
  fmt::print(
      "{{\"source_cold\": {}, \"source\": {}, \"cache_cold\": {}, \"cache\": {}, \"open\": {}}}\n",
      cold(from_source), fastest(3, from_source), cold(from_cache), fastest(3, from_cache),
      fastest(3, [&] { load_records(*source.component, *source.about, ""); }));
}

void texas() {
  constexpr int64_t records = 20'000, features = 6'169;
  const auto packed = torch::randint(0, 256, {records, (features + 7) / 8}, torch::kUInt8);
  const auto bits = Records::bits(packed, features);
  const auto seconds = fastest(3, [&] {
    for (const auto& index : torch::randperm(records, torch::kLong).split(128))
      as_input(bits.rows(index), torch::kFloat32, torch::kCPU);
  });
  fmt::print("{{\"seconds\": {}, \"bytes\": {}}}\n", seconds, packed.nbytes());
}

}  // namespace
}  // namespace imprint

int main(int argc, char** argv) {
  at::set_num_threads(1);
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "mlp") imprint::mlp();
  if (what == "resnet") imprint::resnet(argc > 2 && *argv[2] ? std::stoll(argv[2]) : 10'000);
  if (what == "cifar") imprint::cifar(argc > 2 ? argv[2] : "");
  if (what == "texas") imprint::texas();
  if (what == "attacks") imprint::attacks();
  return 0;
}
