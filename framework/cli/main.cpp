#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "framework/cli/commands.h"
#include "framework/registry/registry.h"
#include "framework/runs/slurm.h"

namespace imprint {
namespace {

constexpr int bad_input = 2;

void add_run_options(CLI::App& command, RunOptions& options) {
  command.add_option("FILE", options.file, "experiment file (YAML)")->required();
  command.add_option("OVERRIDES", options.overrides,
                     "key=value, such as train.epochs=5 or 'defenses[1].alpha=0.2,0.4'");
  command.add_option("--store", options.store,
                     "folder of reusable results (default: $IMPRINT_STORE, else store)");
  command.add_option("--plugin", options.plugins, "shared object with further components")
      ->allow_extra_args(false);
}

CLI::App* add_data_command(CLI::App& data, const std::string& name, const std::string& what,
                           DataOptions& options) {
  auto* command = data.add_subcommand(name, what);
  if (name != "list")
    command->add_option("NAME", options.name, "a data set that 'imprint data list' shows")
        ->required();
  command->add_option("--plugin", options.plugins, "shared object with further components")
      ->allow_extra_args(false);
  return command;
}

void add_data_commands(CLI::App& app, DataOptions& options, int& code) {
  auto* data = app.add_subcommand("data", "data sets: where they come from, get, check, export");
  data->require_subcommand(1);
  const std::string keys = "key=value of the data set's own keys, such as path=FOLDER";

  auto* list = add_data_command(*data, "list", "what there is, and whether it is here", options);
  list->callback([&] { code = data_list_command(options); });

  auto* get = add_data_command(
      *data, "get", "fetches the files into $IMPRINT_DATA/NAME, else ~/.cache/imprint/data/NAME",
      options);
  get->add_option("KEYS", options.keys, keys);
  get->add_option("--from", options.from, "a folder or archive of your own to take the files from");
  get->callback([&] { code = data_get_command(options); });

  auto* check = add_data_command(
      *data, "check", "compares the files with the published ones and counts records", options);
  check->add_option("KEYS", options.keys, keys);
  check->callback([&] { code = data_check_command(options); });

  auto* out = add_data_command(*data, "export", "writes the records as x and y for NumPy", options);
  out->add_option("FILE", options.file, "the file to write (.npz)")->required();
  out->add_option("KEYS", options.keys, keys);
  out->callback([&] { code = data_export_command(options); });
}

void refuse_unknown(const CLI::App& app, const std::string& before, const std::string& word) {
  std::vector<std::string> known;
  for (const auto* command : app.get_subcommands({})) known.push_back(command->get_name());
  if (std::find(known.begin(), known.end(), word) == known.end())
    throw ConfigError(fmt::format("there is no command '{}{}'{} (commands: {})", before, word,
                                  did_you_mean(word, known), joined(known)));
}

// CLI11 takes a misspelt command for a superfluous argument.
void refuse_unknown_commands(const CLI::App& app, const std::vector<std::string>& words) {
  if (words.size() < 2 || words[1].starts_with('-')) return;
  refuse_unknown(app, "", words[1]);
  if (words[1] == "data" && words.size() > 2 && !words[2].starts_with('-'))
    refuse_unknown(*app.get_subcommand("data"), "data ", words[2]);
}

void add_run_command(CLI::App& app, RunOptions& options, int& code) {
  auto* run = app.add_subcommand("run", "runs an experiment, or goes on with it");
  add_run_options(*run, options);
  run->add_option("--jobs", options.jobs,
                  "worker processes here, one thread each (default: one per core)")
      ->check(CLI::Range(1, 4096));
  run->add_option("--memory", options.memory,
                  "memory for the workers, such as 4G, as estimated before they start; nothing "
                  "enforces it afterwards (default: what is free)");
  run->add_option("--time-limit", options.time,
                  "save and leave after this time, such as 30m or 2h, with exit code 75");
  run->add_option("--out", options.out, "where run folders go (default: runs)");
  run->add_flag("--quiet", options.quiet, "no progress");
  run->add_option("--launcher", options.launcher,
                  "local, or slurm: workers are the tasks of a job array")
      ->check(CLI::IsMember({"local", "slurm"}));
  run->add_option("--workers", options.workers, "tasks of the job array (default: 4)")
      ->check(CLI::Range(1, 100'000));
  run->add_option("--slurm", options.slurm,
                  "key=value for sbatch, such as partition=short or time=2:00:00")
      ->allow_extra_args(false);
  run->add_flag("!--no-wait", options.wait,
                "slurm: submit and leave; the same command later collects the results");
  run->callback([&] { code = run_command(options); });
}

void add_look_commands(CLI::App& app, LookOptions& options, int& code) {
  auto* status = app.add_subcommand("status", "what of a run is done, under way, failed, missing");
  status->add_option("RUN", options.run, "run folder (default: runs/latest)");
  status->add_flag("--all", options.all, "list every job");
  status->callback([&] { code = status_command(options); });

  auto* why = app.add_subcommand("why", "why a job has to be done, or which result it reuses");
  why->add_option("RUN", options.run, "run folder")->required();
  why->add_option("JOB", options.job, "its address or its first digits, or words of its title")
      ->required();
  why->callback([&] { code = why_command(options); });

  auto* gc = app.add_subcommand("gc", "what in the store no run needs any more");
  gc->add_option("--store", options.store,
                 "folder of reusable results (default: $IMPRINT_STORE, else store)");
  gc->add_flag("--delete", options.remove, "delete it; without this it is only listed");
  gc->callback([&] { code = gc_command(options); });

  auto* work = app.add_subcommand("work", "works on a run that 'imprint run' started");
  work->add_option("RUN", options.run, "run folder")->required();
  work->add_option("--number", options.number, "of this worker among the run's")->required();
  work->callback([&] { code = work_command(options); });
}

void add_score_command(CLI::App& app, ScoreOptions& options, int& code) {
  auto* command = app.add_subcommand("score", "scores the outputs of somebody else's model");
  command
      ->add_option("FILE", options.file,
                   "outputs (.npz or .csv): logits, probabilities or scores; labels; members")
      ->required();
  command->add_option("--shadow", options.shadow,
                      "the same of a model whose members the attacker knows, for the threshold");
  command->add_option("--out", options.out, "where run folders go (default: runs)");
  command
      ->add_option("--delta", options.delta,
                   "of the differential privacy whose epsilon is bounded (default: 1e-5)")
      ->check(CLI::Range(0.0, 1.0));
  command->add_option("--plugin", options.plugins, "shared object with further components")
      ->allow_extra_args(false);
  command->callback([&] { code = score_command(options); });
}

// The command line as a shell would take it again.
std::string typed(int argc, char** argv) {
  std::string text = "./imprint";
  for (int i = 1; i < argc; ++i) text += " " + shell_quoted(argv[i]);
  return text;
}

int run_program(int argc, char** argv) {
  CLI::App app("Imprint measures the imprint that training data leave in a neural network.",
               "imprint");
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::help);
  RunOptions options;
  DataOptions data_options;
  std::string word, second;
  int code = 0;

  options.command = typed(argc, argv);
  add_run_command(app, options, code);

  auto* check = app.add_subcommand(
      "check", "validates an experiment, prints its plan and what it will cost; trains nothing");
  add_run_options(*check, options);
  check->add_option("--jobs", options.jobs, "worker processes to plan for (default: one per core)")
      ->check(CLI::Range(1, 4096));
  check->callback([&] { code = check_command(options); });

  LookOptions look;
  add_look_commands(app, look, code);

  ScoreOptions score;
  add_score_command(app, score, code);

  auto* save = app.add_subcommand("export", "writes a trained model's weights for PyTorch");
  save->add_option("RUN", options.file, "run folder, or experiment file")->required();
  save->add_option("WEIGHTS", word, "file to write: .pt, .pth or .safetensors")->required();
  save->add_option("--cell", second, "which cell's target (its name in results.csv)");
  save->add_option("--store", options.store,
                   "folder of reusable results (default: $IMPRINT_STORE, else store)");
  save->callback([&] { code = export_command(options, second, word); });

  auto* list = app.add_subcommand("list", "lists models, attacks, defenses, datasets and measures");
  list->add_option("KIND", word, "models, attacks, defenses, datasets or measures");
  list->add_option("--plugin", options.plugins, "shared object with further components")
      ->allow_extra_args(false);
  list->callback([&] { code = list_command(word, options.plugins); });

  auto* explain = app.add_subcommand("explain", "keys, paper and threat model of a component");
  explain->add_option("NAME", word, "a name that 'imprint list' shows")->required();
  explain->add_option("--plugin", options.plugins, "shared object with further components")
      ->allow_extra_args(false);
  explain->callback([&] { code = explain_command(word, options.plugins); });

  add_data_commands(app, data_options, code);

  auto* fresh = app.add_subcommand("new", "writes a new component, its test and its example");
  fresh->add_option("KIND", word, "attack, defense, model, dataset or measure")->required();
  fresh->add_option("NAME", second, "its name, in lower_case_with_underscores")->required();
  fresh->callback([&] { code = new_command(word, second); });

  auto* doctor = app.add_subcommand("doctor", "LibTorch, kernels, speed, and what is missing");
  doctor->callback([&] { code = doctor_command(); });

  refuse_unknown_commands(app, {argv, argv + argc});
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : bad_input;
  }
  return code;
}

}  // namespace
}  // namespace imprint

int main(int argc, char** argv) {
  try {
    if (!imprint::duplicate_registrations().empty())
      throw imprint::ConfigError(imprint::joined(imprint::duplicate_registrations(), "\n"));
    return imprint::run_program(argc, argv);
  } catch (const imprint::ConfigError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return imprint::bad_input;
  } catch (const std::exception& error) {
    fmt::print(stderr, "imprint: {}\n", error.what());
    return 1;
  }
}
