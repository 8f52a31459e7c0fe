#include "framework/cli/run_end.h"

#include <fmt/format.h>

namespace imprint {
namespace {

void say_failures(const Outcome& outcome, const Plan& plan, const std::filesystem::path& folder) {
  for (const auto& [address, message] : outcome.failed)
    for (const auto& job : plan.jobs)
      if (job.address == address)
        fmt::print(stderr, "imprint: failed: {}: {}\n", job.title, message);
  if (!outcome.failed.empty())
    fmt::print(stderr,
               "imprint: whole messages and configurations are in {}; the same command tries "
               "again\n",
               (folder / "progress/failed").string());
}

}  // namespace

std::optional<int> end_of_work(const Outcome& outcome, const Plan& plan,
                               const std::filesystem::path& folder, const std::string& command,
                               const std::string& later) {
  say_failures(outcome, plan, folder);
  if (!outcome.stuck.empty()) {
    fmt::print(stderr,
               "imprint: stopped: {}\nimprint: what was finished is kept; once that is mended, "
               "go on with: {}\n",
               outcome.stuck, command);
    return 1;
  }
  if (!outcome.interrupted) return std::nullopt;
  if (!later.empty())
    fmt::print(stderr, "imprint: {}\n", later);
  else
    fmt::print(stderr,
               "imprint: interrupted; {} jobs were finished, and trainings under way were saved. "
               "Go on with: {}\n",
               outcome.done, command);
  return 75;
}

}  // namespace imprint
