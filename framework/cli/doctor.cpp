#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/types.h>

#include <chrono>
#include <thread>

#include "framework/cli/commands.h"
#include "framework/runs/machine.h"

namespace imprint {
namespace {

double gflops(torch::ScalarType type) {
  const auto a = torch::randn({1024, 1024}).to(type);
  const auto b = torch::randn({1024, 1024}).to(type);
  a.mm(b);
  const auto start = std::chrono::steady_clock::now();
  int rounds = 0;
  double seconds = 0;
  for (; seconds < 0.3; ++rounds) {
    a.mm(b);
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  return 2.0 * 1024 * 1024 * 1024 * rounds / seconds / 1e9;
}

}  // namespace

int doctor_command() {
  at::set_num_threads(1);
  const auto about = environment();
  for (const auto* key : {"imprint", "commit", "compiler", "cpu", "cores", "mkl", "onednn", "cuda"})
    fmt::print("{:<10} {}\n", key,
               about[key].is_string() ? about[key].get<std::string>() : about[key].dump());
  for (const auto& [name, type] : {std::pair{"float32", torch::kFloat32},
                                   {"float64", torch::kFloat64},
                                   {"bfloat16", torch::kBFloat16}})
    fmt::print("{:<10} {:.0f} GFLOP/s in a 1024-cube matrix product on one thread\n", name,
               gflops(type));
  const bool figures = !read_share("vega.js").empty();
  fmt::print("{:<10} {}\n", "report",
             figures ? "figures ready" : "no figure bundle: ./imprint build installs it");
  return 0;
}

}  // namespace imprint
