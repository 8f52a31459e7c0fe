#include <regex>

#include "framework/config/problems.h"
#include "framework/runs/slurm.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;

void check_key(const std::string& key) {
  static const std::regex good("([a-z][a-z-]*)(=[^\\n]*)?");
  std::smatch found;
  if (!std::regex_match(key, found, good))
    throw ConfigError(
        fmt::format("--slurm {}: expected key=value with a long option of sbatch, "
                    "such as partition=short or time=2:00:00",
                    key));
  for (const auto* own : {"array", "output", "error", "open-mode", "requeue", "no-requeue"})
    if (found[1] == own)
      throw ConfigError(fmt::format("--slurm {}: '{}' is set by the launcher{}", key, own,
                                    std::string(own) == "array" ? "; use --workers" : ""));
}

// With nothing that sbatch would replace.
std::string sbatch_path(const std::string& path) {
  std::string text;
  for (const char c : path) text += c == '%' ? std::string("%%") : std::string(1, c);
  return text;
}

}  // namespace

std::string shell_quoted(const std::string& word) {
  const bool plain = !word.empty() && word.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789_-./=:,+@%") == std::string::npos;
  if (plain) return word;
  std::string quoted;
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return "'" + quoted + "'";
}

std::string slurm_script(const fs::path& run, const SlurmOptions& options) {
  const auto folder = fs::canonical(run);
  std::string script = fmt::format(
      "#!/bin/bash\n"
      "# The workers of an Imprint run; written by imprint run --launcher slurm.\n"
      "#SBATCH --job-name={}\n"
      "#SBATCH --array=0-{}\n"
      "#SBATCH --cpus-per-task=1\n"
      "#SBATCH --requeue\n"
      "#SBATCH --open-mode=append\n"
      "#SBATCH --output={}\n"
      "#SBATCH --signal=B:USR1@60\n",
      shell_quoted("imprint-" + folder.parent_path().filename().string()), options.workers - 1,
      shell_quoted(sbatch_path(folder.string()) + "/slurm/%a.log"));
  for (const auto& key : options.keys) {
    check_key(key);
    script += "#SBATCH --" + key + "\n";
  }
  const auto command =
      fmt::format("{} work {} --number \"$SLURM_ARRAY_TASK_ID\"",
                  shell_quoted(options.program.string()), shell_quoted(folder.string()));
  script += "\nexport OMP_NUM_THREADS=1\n" + command + " &\nworker=$!\n";
  script +=
      "# Time is nearly over: save, leave and go on later. Cancelled or preempted: save and leave; "
      "Slurm\n"
      "# itself brings back whom it preempted.\n"
      "over=\n"
      "trap 'kill -USR1 $worker' USR1\n"
      "trap 'over=yes; kill -USR1 $worker' TERM\n"
      "wait $worker\n"
      "code=$?\n"
      "while kill -0 $worker 2>/dev/null; do\n"
      "  wait $worker\n"
      "  code=$?\n"
      "done\n"
      "# Left (75) or killed: go on when there is a place again, but not for ever.\n"
      "if [ -z \"$over\" ] && { [ $code -eq 75 ] || { [ $code -gt 128 ] &&\n"
      "  [ \"${SLURM_RESTART_COUNT:-0}\" -lt 20 ]; }; }; then\n"
      "  scontrol requeue \"${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID\"\n"
      "fi\n"
      "exit $code\n";
  return script;
}

}  // namespace imprint
