// Runs that are killed, interrupted, starved of disk or memory, and looked at: as users see them.
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <thread>

#include "framework/runs/lease.h"
#include "framework/runs/progress.h"
#include "tests/support/workshop.h"

namespace imprint::runs_test {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// Trainings of some seconds, with everything that a checkpoint has to hold: momentum, dropout,
// AdvReg's attacker, MMD's draws, a measure that watches, an epoch that is released on the way.
constexpr auto busy = R"(name: busy
data: {name: gaussian, records: 1200, features: 60, split: {size: 200, protocol: five_way}}
model: {name: mlp, hidden: [192, 96]}
train: {epochs: 60, batch: 16, optimizer: {lr: 0.05, momentum: 0.9}, evaluate: {every: 10}}
defenses:
  - none
  - {name: dropout, rate: 0.3}
  - {name: adversarial_regularization, weight: 1}
  - {name: early_stopping, epoch: 25}
  - [{name: label_smoothing, epsilon: 0.1}, {name: early_stopping, epoch: 30}]
  - {name: distillation}
  - {name: mixup_mmd, weight: 1, threshold: 0}
attacks: [loss, entropy]
measures: [loss_distribution]
seeds: 1
)";

std::vector<std::string> frequent_checkpoints(const Workshop& shop) {
  return {"IMPRINT_CHECKPOINT_SECONDS=0.05", "IMPRINT_STORE=" + shop.at("store").string(),
          "IMPRINT_HOME=" IMPRINT_SOURCE};
}

std::vector<std::string> run_arguments(const Workshop& shop, std::vector<std::string> more) {
  std::vector<std::string> all{IMPRINT_PROGRAM, "run", shop.at("f.yaml").string(), "--out",
                               shop.at("runs").string()};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

// The program in the background, in a process group of its own.
class Background {
 public:
  Background(const std::vector<std::string>& argv, const std::vector<std::string>& environment) {
    const auto variables = environment_with(environment);
    const auto words = pointers(argv), entries = pointers(variables);
    pid_ = ::fork();
    if (pid_ != 0) return;
    ::setpgid(0, 0);
    ::dup2(err_.fd(), STDERR_FILENO);
    ::dup2(out_.fd(), STDOUT_FILENO);
    ::execve(argv[0].c_str(), words.data(), entries.data());
    ::_exit(127);
  }
  ~Background() {
    if (code_ < 0) kill(SIGKILL), wait();
  }

  pid_t pid() const { return pid_; }
  std::vector<pid_t> workers() const {
    std::ifstream file("/proc/" + std::to_string(pid_) + "/task/" + std::to_string(pid_) +
                       "/children");
    std::vector<pid_t> all;
    for (pid_t each = 0; file >> each;) all.push_back(each);
    return all;
  }
  // Those that are in the midst of a job, who hold its lease; processes that probe hold none.
  std::vector<pid_t> at_work(const Workshop& shop) const {
    const auto children = workers();
    std::vector<pid_t> all;
    std::error_code none;
    for (const auto& lease : fs::directory_iterator(shop.at("store/leases"), none)) {
      const auto holder = holder_of(lease.path());
      const auto process = static_cast<pid_t>(holder.process);
      if (holder.held && std::find(children.begin(), children.end(), process) != children.end())
        all.push_back(process);
    }
    return all;
  }
  void kill(int signal) const { ::kill(pid_, signal); }
  bool running() {
    int status = 0;
    if (code_ < 0 && ::waitpid(pid_, &status, WNOHANG) == pid_) set(status);
    return code_ < 0;
  }
  int wait() {
    int status = 0;
    if (code_ < 0 && ::waitpid(pid_, &status, 0) == pid_) set(status);
    return code_;
  }
  std::string err() const { return err_.text(); }

 private:
  void set(int status) { code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }
  MemoryFile out_, err_;
  pid_t pid_ = 0;
  int code_ = -1;
};

// Every byte of results, per-record scores and weights, by file; addresses are the same for both.
std::map<std::string, std::string> everything(const Workshop& shop) {
  std::map<std::string, std::string> bytes;
  for (const auto* file : {"results.csv", "metrics.csv", "config.yaml"})
    bytes[file] = file_text(shop.latest() / file);
  for (const auto& entry : fs::directory_iterator(shop.latest() / "records"))
    bytes[entry.path().filename().string()] = file_text(entry.path());
  for (const auto* kind : {"train", "snapshot", "signals", "attack", "measure"})
    for (std::error_code none;
         const auto& file : fs::recursive_directory_iterator(shop.at("store") / kind, none))
      if (file.is_regular_file())
        bytes[fs::relative(file.path(), shop.at("store")).string()] = file_text(file.path());
  return bytes;
}

void expect_same(const Workshop& a, const Workshop& b) {
  const auto left = everything(a), right = everything(b);
  std::set<std::string> names;
  for (const auto& [name, text] : left) names.insert(name);
  for (const auto& [name, text] : right) names.insert(name);
  EXPECT_GT(names.size(), 60U);
  for (const auto& name : names) {
    ASSERT_TRUE(left.contains(name) && right.contains(name)) << name;
    EXPECT_TRUE(left.at(name) == right.at(name)) << name << " differs";
  }
}

bool waits_for(const std::function<bool()>& what, double seconds = 30) {
  const auto start = Clock::now();
  while (!what()) {
    if (std::chrono::duration<double>(Clock::now() - start).count() > seconds) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

size_t checkpoints(const Workshop& shop) { return shop.stored("checkpoint"); }

// The undisturbed run that others are compared with; made once.
const Workshop& undisturbed() {
  static const Workshop shop(busy);
  static const bool ran = [] {
    const auto output = shop.run({"--jobs", "2"});
    EXPECT_EQ(output.code, 0) << output.err;
    return true;
  }();
  (void)ran;
  return shop;
}

// Kills something twenty times in the midst of a job, starting again each time, then lets the run
// end.
void expect_twenty_kills_change_nothing(const std::string& jobs) {
  const Workshop shop(busy);
  std::mt19937 random(static_cast<unsigned>(jobs.front()));
  const auto argv = run_arguments(shop, {"--jobs", jobs});
  size_t kills = 0;
  std::array<size_t, 3> kills_of{};
  std::unique_ptr<Background> run;
  for (int tries = 0; kills < 20 && tries < 60; ++tries) {
    if (!run || !run->running())
      run = std::make_unique<Background>(argv, frequent_checkpoints(shop));
    waits_for([&] { return !run->running() || !run->at_work(shop).empty(); });
    // Enough for a checkpoint or two, little enough that the work lasts for twenty of them.
    const auto pause = std::uniform_int_distribution<int>(0, 150)(random);
    std::this_thread::sleep_for(std::chrono::milliseconds(pause));
    const auto workers = run->at_work(shop);
    if (!run->running() || workers.empty()) continue;
    const auto choice = kills % 3;
    if (choice == 0) {  // the coordinator; its workers go with it
      run->kill(SIGKILL);
      run->wait();
    } else if (choice == 1) {  // one worker
      ::kill(workers[random() % workers.size()], SIGKILL);
    } else {  // all of them at once, as when the machine dies
      ::kill(-run->pid(), SIGKILL);
      run->wait();
    }
    ++kills_of[choice];
    ++kills;
  }
  if (run) run->wait();
  run.reset();
  // The undisturbed end; jobs that lost two workers to us before they could save anything have
  // failed and are tried again.
  const auto end = run_process(argv, {}, frequent_checkpoints(shop));
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(kills, 20U) << "the run was over too soon to be disturbed";
  for (const auto each : kills_of) EXPECT_GE(each, 6U);
  EXPECT_EQ(checkpoints(shop), 0U);
  expect_same(undisturbed(), shop);
}

TEST(Runs, KilledTwentyTimesGiveTheSameBytesWithOneWorker) {
  expect_twenty_kills_change_nothing("1");
}
TEST(Runs, KilledTwentyTimesGiveTheSameBytesWithFourWorkers) {
  expect_twenty_kills_change_nothing("4");
}

// Decoded data come from the source the first time and from the cache the second.
TEST(Runs, FromTheCacheOfDataAndFromTheSourceGiveTheSameBits) {
  const Workshop shop(R"(name: table
data: {name: csv, path: table.csv, label: y, split: {size: 100}}
model: {name: mlp, hidden: [16]}
train: {epochs: 3, batch: 16}
attacks: [loss]
)");
  std::ofstream table(shop.at("table.csv"));
  std::mt19937 random(5);
  for (int i = 0; i < 400; ++i) table << "feature" << i << ",";
  table << "y\n";
  for (int row = 0; row < 600; ++row) {
    for (int i = 0; i < 400; ++i) table << static_cast<int>(random() % 1000) << ".5,";
    table << row % 3 << "\n";
  }
  table.close();
  const auto run = [&](const std::string& store) {
    const auto output = run_process(run_arguments(shop, {"--store", shop.at(store).string()}), {},
                                    {"IMPRINT_DATA=" + shop.at("data").string()});
    EXPECT_EQ(output.code, 0) << output.err;
    return file_text(shop.latest() / "results.csv");
  };
  const auto from_source = run("first");
  ASSERT_FALSE(fs::is_empty(shop.at("data/cache")));
  EXPECT_EQ(from_source, run("second"));
  size_t compared = 0;
  for (const auto& file : fs::recursive_directory_iterator(shop.at("first/snapshot"))) {
    if (!file.is_regular_file()) continue;
    const auto other = shop.at("second") / fs::relative(file.path(), shop.at("first"));
    EXPECT_TRUE(file_text(file.path()) == file_text(other)) << other;
    ++compared;
  }
  EXPECT_EQ(compared, 6U);  // weights, defenses and digests of a target and its shadow
}

TEST(Runs, SaveAndLeaveOnEverySignal) {
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) {
    const Workshop shop(busy);
    Background run(run_arguments(shop, {"--jobs", "2", "train.epochs=100000"}),
                   frequent_checkpoints(shop));
    ASSERT_TRUE(waits_for([&] { return checkpoints(shop) == 2; })) << run.err();
    run.kill(signal);
    EXPECT_EQ(run.wait(), 75) << run.err();
    EXPECT_NE(run.err().find("trainings under way were saved. Go on with: ./imprint run "),
              std::string::npos)
        << run.err();
    EXPECT_EQ(checkpoints(shop), 2U);
  }
}

// While data are read, while trainings are tried, while workers start: whenever it comes.
TEST(Runs, LeaveOnASignalAtAnyTime) {
  const Workshop shop(busy);
  for (const int milliseconds : {0, 20, 100, 300}) {
    Background run(run_arguments(shop, {"--jobs", "2", "train.epochs=100000"}),
                   frequent_checkpoints(shop));
    // Its folder is locked as soon as everything has been read.
    const auto started = [&] { return fs::exists(shop.latest() / "plan.json"); };
    ASSERT_TRUE(waits_for([&] { return started() && !run.workers().empty(); })) << run.err();
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    run.kill(SIGTERM);
    EXPECT_EQ(run.wait(), 75) << run.err();
    EXPECT_NE(run.err().find("Go on with: ./imprint run "), std::string::npos) << run.err();
  }
}

TEST(Runs, LeaveWhenTheirTimeIsOver) {
  const Workshop shop(busy);
  const auto output = shop.run({"train.epochs=100000", "--time-limit", "1s"});
  EXPECT_EQ(output.code, 75) << output.err;
  EXPECT_GE(checkpoints(shop), 1U);
  const auto wrong = shop.run({"--time-limit", "soon"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_EQ(wrong.err, "'soon' is not a time such as 90s, 30m or 2h\n");
}

// Seconds from what was told of a training's first epoch to what was told of a later one; nothing:
// that has not been told yet.
std::optional<double> seconds_to_epoch(const Workshop& shop, int64_t epoch) {
  std::optional<double> first, last;
  Follower(shop.latest() / "progress").poll([&](const Progress& each) {
    if (each.kind != Progress::Kind::epoch) return;
    if (each.row.epoch == 1) first = each.time;
    if (each.row.epoch == epoch) last = each.time;
  });
  return first && last ? std::optional(*last - *first) : std::nullopt;
}

TEST(Runs, GoOnFromTheCheckpointNotFromTheBeginning) {
  const Workshop shop(busy);
  constexpr int64_t reached = 200;
  const std::vector<std::string> one{"--jobs",          "1",          "train.epochs=3000",
                                     "defenses=[none]", "attacks=[]", "measures=[]"};
  auto argv = run_arguments(shop, one);
  Background run(argv, frequent_checkpoints(shop));
  ASSERT_TRUE(waits_for([&] { return seconds_to_epoch(shop, reached).has_value(); })) << run.err();
  const auto trained = *seconds_to_epoch(shop, reached);
  run.kill(SIGTERM);
  EXPECT_EQ(run.wait(), 75) << run.err();
  fs::remove_all(shop.latest() / "progress");
  Background again(argv, frequent_checkpoints(shop));
  // What was done is told again at once, and gone on with.
  ASSERT_TRUE(waits_for([&] { return seconds_to_epoch(shop, reached).has_value(); }))
      << again.err();
  EXPECT_LT(*seconds_to_epoch(shop, reached), trained / 4);
  const auto status = shop.imprint({"status", shop.latest().string()});
  EXPECT_NE(status.out.find("train target of 001-none-seed0, epoch "), std::string::npos)
      << status.out;
  EXPECT_NE(status.out.find("under way"), std::string::npos) << status.out;
}

// Three times, which would be once too often had nothing been saved in between.
TEST(Runs, AWorkerThatIsKilledIsReplacedAndItsJobGoesOn) {
  const Workshop shop(busy);
  Background run(run_arguments(shop, {"--jobs", "1", "train.epochs=500", "defenses=[none]",
                                      "attacks=[]", "measures=[]"}),
                 frequent_checkpoints(shop));
  const auto newest = [&] {
    std::string name;
    for (std::error_code none;
         const auto& each : fs::directory_iterator(shop.at("store/checkpoint"), none))
      name = std::max(name, each.path().filename().string());
    return name;
  };
  std::string before = "0";  // behind all names that are being written
  for (int i = 0; i < 3; ++i) {
    std::vector<pid_t> workers;
    ASSERT_TRUE(waits_for([&] {
      workers = run.at_work(shop);
      return workers.size() == 1 && newest() > before;
    })) << run.err();
    ::kill(workers.front(), SIGKILL);
    ASSERT_TRUE(waits_for([&] { return run.workers() != workers; }));
    before = newest();
  }
  EXPECT_EQ(run.wait(), 0) << run.err();
  EXPECT_NE(run.err().find("killed by signal 9 (out of memory?); going on with another"),
            std::string::npos)
      << run.err();
}

TEST(Runs, AJobThatKillsWorkerAfterWorkerFailsAndTheOthersGoOn) {
  const Workshop shop(busy);
  auto without_checkpoints = frequent_checkpoints(shop);
  without_checkpoints.front() = "IMPRINT_CHECKPOINT_SECONDS=1000";
  Background run(run_arguments(shop, {"--jobs", "1", "train.epochs=100000", "defenses=[none]"}),
                 without_checkpoints);
  std::vector<pid_t> killed;
  for (int i = 0; i < 2; ++i) {
    std::vector<pid_t> workers;
    // Its file says what it was doing as soon as it has told of an epoch.
    ASSERT_TRUE(waits_for([&] {
      workers = run.at_work(shop);
      return workers.size() == 1 && workers != killed && seconds_to_epoch(shop, 1);
    })) << run.err();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    ::kill(workers.front(), SIGKILL);
    killed = workers;
  }
  ASSERT_TRUE(waits_for([&] { return !fs::is_empty(shop.latest() / "progress/failed"); }))
      << run.err();
  run.kill(SIGTERM);
  run.wait();
  EXPECT_NE(run.err().find("its worker was killed by signal 9 (out of memory?), 2 times "
                           "without getting further"),
            std::string::npos)
      << run.err();
  for (const auto& file : fs::directory_iterator(shop.latest() / "progress/failed"))
    EXPECT_NE(file_text(file.path()).find("train.epochs: \"100000\""), std::string::npos)
        << file_text(file.path());
}

TEST(Runs, RetryOnlyWhatFailed) {
  const Workshop shop;
  const std::vector<std::string> diverging{"train.optimizer.lr=1e30", "seeds=1"};
  const auto first = shop.run(diverging);
  EXPECT_EQ(first.code, 1) << first.err;
  EXPECT_NE(first.err.find("whole messages and configurations are in "), std::string::npos);
  const auto trained = shop.stored("train");
  const auto again = shop.run(diverging);
  EXPECT_EQ(again.code, 1);
  EXPECT_NE(again.err.find("to do, no training among them"), std::string::npos) << again.err;
  EXPECT_EQ(shop.stored("train"), trained);
}

TEST(Runs, TwoAtATimeShareAStoreAndDoNothingTwice) {
  const Workshop shop(busy);
  auto first = run_arguments(shop, {"--jobs", "1"});
  auto second = first;
  second[4] = shop.at("others").string();
  Background a(first, frequent_checkpoints(shop)), b(second, frequent_checkpoints(shop));
  EXPECT_EQ(a.wait(), 0) << a.err();
  EXPECT_EQ(b.wait(), 0) << b.err();
  EXPECT_EQ(file_text(shop.at("others/latest/results.csv")),
            file_text(shop.latest() / "results.csv"));
  size_t done = 0;
  for (const auto* out : {"runs", "others"}) {
    const auto text = file_text(shop.at(out) / "latest/progress/0.jsonl");
    for (size_t at = 0; (at = text.find("\"kind\":\"done\"", at)) != std::string::npos; ++at)
      ++done;
  }
  size_t jobs = 0;
  for (const auto* kind : {"train", "signals", "attack"}) jobs += shop.stored(kind);
  EXPECT_GE(done, jobs);
  EXPECT_LE(done, jobs + shop.stored("measure"));
  expect_same(undisturbed(), shop);
}

// Damages every file that a report reads and expects each to be found, named and made again.
TEST(Store, ComputesAgainWhatIsDamaged) {
  const Workshop shop;
  ASSERT_EQ(shop.run({"measures=[loss_distribution]"}).code, 0);
  const auto before = everything(shop);
  const auto damage = [&](const std::string& kind, const std::string& file, bool cut) {
    size_t count = 0;
    for (const auto& entry : fs::directory_iterator(shop.at("store") / kind)) {
      // Of a shadow's training only the weights are read.
      const bool shadow =
          file_text(entry.path() / "job.yaml").find("model number: \"1\"") != std::string::npos;
      if (shadow) continue;
      const auto path = entry.path() / file;
      auto text = file_text(path);
      if (cut)
        text.resize(text.size() / 2);
      else
        text[text.size() - 3] = static_cast<char>(text[text.size() - 3] ^ 4);
      std::ofstream(path, std::ios::binary) << text;
      ++count;
    }
    return count;
  };
  auto damaged =
      damage("train", "history.jsonl", false) + damage("signals", "columns.safetensors", false) +
      damage("attack", "tensors.safetensors", true) + damage("measure", "metrics.json", false);
  const auto again = shop.run({"measures=[loss_distribution]"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.err.find("damaged in the store, set aside and computed again: "),
            std::string::npos)
      << again.err;
  EXPECT_GT(damaged, 30U);
  EXPECT_EQ(shop.stored("damaged"), damaged);
  EXPECT_TRUE(before == everything(shop));
  // Weights are read when somebody asks the model again.
  damaged += damage("snapshot", "weights.safetensors", false);
  fs::remove_all(shop.at("store/signals"));
  const auto asked = shop.run({"measures=[loss_distribution]"});
  EXPECT_EQ(asked.code, 0) << asked.err;
  EXPECT_NE(asked.err.find("weights.safetensors is not what was written (its digest differs)"),
            std::string::npos)
      << asked.err;
  EXPECT_EQ(shop.stored("damaged"), damaged);
  EXPECT_TRUE(before == everything(shop));
}

TEST(Store, AMissingFileIsNoticedToo) {
  const Workshop shop;
  ASSERT_EQ(shop.run({"seeds=1"}).code, 0);
  const auto before = everything(shop);
  fs::remove(fs::directory_iterator(shop.at("store/attack"))->path() / "metrics.json");
  const auto again = shop.run({"seeds=1"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.err.find("metrics.json is missing"), std::string::npos) << again.err;
  EXPECT_TRUE(before == everything(shop));
}

TEST(Store, ADamagedCheckpointIsSetAsideAndTheTrainingBeginsAgain) {
  const Workshop shop(busy);
  auto argv = run_arguments(shop, {"--jobs", "2"});
  Background run(argv, frequent_checkpoints(shop));
  ASSERT_TRUE(waits_for([&] { return checkpoints(shop) == 2; })) << run.err();
  run.kill(SIGTERM);
  ASSERT_EQ(run.wait(), 75) << run.err();
  for (const auto& entry : fs::directory_iterator(shop.at("store/checkpoint"))) {
    const auto file = entry.path() / "tensors.safetensors";
    fs::resize_file(file, fs::file_size(file) - 8);
  }
  const auto again = run_process(argv, {}, frequent_checkpoints(shop));
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.err.find("set aside and computed again: checkpoint "), std::string::npos)
      << again.err;
  expect_same(undisturbed(), shop);
}

TEST(Store, OfAnotherVersionIsRefused) {
  const Workshop shop;
  fs::create_directories(shop.at("store/train/abc"));
  const auto older = shop.run();
  EXPECT_EQ(older.code, 2);
  EXPECT_EQ(older.err, "the store '" + shop.at("store").string() +
                           "' was written by an older version of Imprint; delete it, or choose "
                           "another with --store\n");
  std::ofstream(shop.at("store/format")) << "imprint store, format 77\n";
  const auto newer = shop.run();
  EXPECT_EQ(newer.code, 2);
  EXPECT_EQ(newer.err, "the store '" + shop.at("store").string() +
                           "' was written by another version of Imprint ('imprint store, format "
                           "77', this one writes 'imprint store, format 2'); delete it, or choose "
                           "another with --store\n");
  EXPECT_FALSE(fs::exists(shop.at("runs")));
}

TEST(RunFolder, OfAnotherVersionOrNoneIsRefused) {
  const Workshop shop;
  ASSERT_EQ(shop.run({"seeds=1"}).code, 0);
  const auto run = fs::canonical(shop.latest());
  const auto refused = [&](const std::string& plan) {
    if (plan.empty())
      fs::remove(run / "plan.json");
    else
      std::ofstream(run / "plan.json") << plan;
    const auto output = shop.imprint({"status", run.string()});
    EXPECT_EQ(output.code, 2) << output.out;
    return output.err;
  };
  EXPECT_NE(
      refused("{\"format\": 9}").find("another version of Imprint (format 9, this one reads 1)"),
      std::string::npos);
  EXPECT_NE(refused("{\"form").find("plan.json: damaged: "), std::string::npos);
  EXPECT_NE(refused("").find("written by another version of Imprint (it has no plan.json)"),
            std::string::npos);
  EXPECT_NE(shop.imprint({"status", shop.at("store").string()})
                .err.find("not the folder of a run (it has no plan.json)"),
            std::string::npos);
}

// A file system of some kilobytes in a mount namespace of its own; nothing where none can be had,
// as for root in a container without further rights. That is no missing part that somebody could
// install, so these tests are skipped there even where no other may be.
std::optional<Output> on_small_disk(const Workshop& shop, const std::string& options,
                                    const std::string& script) {
  const auto disk = shop.at("disk").string();
  fs::create_directories(disk);
  const auto whole = "mount -t tmpfs -o " + options + " tmpfs " + disk + " || exit 99\n" + script;
  for (const auto* flags : {"-m", "-rm"}) {
    auto output = run_process({"unshare", flags, "/bin/bash", "-c", whole}, {},
                              {"IMPRINT_HOME=" IMPRINT_SOURCE});
    if (output.code != 99 && output.code != 127 && output.code != 1) return output;
    if (output.err.find("unshare") == std::string::npos && output.code != 99) return output;
  }
  return std::nullopt;
}

TEST(Store, AFullDiskEndsTheRunWithItsReasonAndLosesNothing) {
  const Workshop shop(busy);
  const auto disk = shop.at("disk").string();
  const std::string command = std::string(IMPRINT_PROGRAM) + " run " + shop.at("f.yaml").string() +
                              " --store " + disk + "/store --out " + shop.at("runs").string();
  // Full at first; with room again the same command goes on to its end.
  const auto output = on_small_disk(shop, "size=700k",
                                    command + "; echo first $?; ls -A " + disk +
                                        "/store/*/ | grep -c '^[.]tmp'; mount -o "
                                        "remount,size=500m " +
                                        disk + "; " + command + " > /dev/null; echo second $?");
  if (!output) GTEST_SKIP() << "no small file system can be mounted here";
  EXPECT_NE(output->err.find("No space left on device"), std::string::npos) << output->err;
  EXPECT_NE(output->err.find("what was finished is kept; once that is mended, go on with"),
            std::string::npos)
      << output->err;
  EXPECT_EQ(output->out, "first 1\n0\nsecond 0\n") << output->err;
  for (const auto* file : {"results.csv", "metrics.csv"})
    EXPECT_EQ(file_text(undisturbed().latest() / file), file_text(shop.latest() / file));
}

TEST(Store, AReadOnlyFolderIsRefused) {
  const Workshop shop;
  const auto disk = shop.at("disk").string();
  const auto run = [&](const std::string& where) {
    return on_small_disk(shop, "size=2m",
                         "mount -o remount,ro " + disk + "; " + IMPRINT_PROGRAM + " run " +
                             shop.at("f.yaml").string() + " " + where + "; echo $?");
  };
  const auto store = run("--store " + disk + "/store --out " + shop.at("runs").string());
  if (!store) GTEST_SKIP() << "no small file system can be mounted here";
  EXPECT_EQ(store->out, "2\n");
  EXPECT_EQ(store->err,
            "the store '" + disk + "/store' cannot be written: Read-only file system\n");
  const auto out = run("--store " + shop.at("store").string() + " --out " + disk + "/runs");
  EXPECT_EQ(out->out, "2\n") << out->err;
  EXPECT_NE(out->err.find("cannot be written: Read-only file system"), std::string::npos)
      << out->err;
}

TEST(Memory, NoMoreWorkersThanFit) {
  const Workshop shop(busy);
  const auto output =
      shop.run({"--jobs", "4", "--memory", "30M", "train.epochs=3", "defenses=[none]"});
  EXPECT_EQ(output.code, 0) << output.err;
  EXPECT_NE(output.err.find("1 workers instead of 4: each needs about "), std::string::npos)
      << output.err;
  EXPECT_EQ(shop.run({"--memory", "much"}).err,
            "'much' is not a size of memory such as 512M or 4G\n");
}

TEST(Check, SaysWhatARunWillCost) {
  const Workshop shop(busy);
  const auto output = shop.imprint({"check", shop.at("f.yaml").string(), "--jobs", "2"});
  EXPECT_EQ(output.code, 0) << output.err;
  for (const auto* words : {"  time     about ", " with 2 workers on this machine",
                            "  memory   about ", "  disk     about "})
    EXPECT_NE(output.out.find(words), std::string::npos) << output.out;
  EXPECT_FALSE(fs::exists(shop.at("store")));
}

TEST(Why, NamesTheKeyThatMakesTheDifference) {
  const Workshop shop;
  ASSERT_EQ(shop.run({"seeds=1"}).code, 0);
  // Planned and not run: interrupted at once.
  const auto other = shop.run({"seeds=1", "train.epochs=200000", "--time-limit", "0.3s"});
  ASSERT_EQ(other.code, 75) << other.err;
  const auto run = shop.latest().string();
  const auto train = shop.imprint({"why", run, "train target of 001-none-seed0"});
  EXPECT_EQ(train.code, 0) << train.err;
  EXPECT_NE(train.out.find("    train.epochs: 6 there, 200000 here\n"), std::string::npos)
      << train.out;
  EXPECT_EQ(train.out.find("train.batch"), std::string::npos) << train.out;
  const auto attack = shop.imprint({"why", run, "attack loss on 001-none-seed0"}).out;
  EXPECT_NE(attack.find("because of\n"), std::string::npos) << attack;
  EXPECT_NE(attack.find("train.epochs: 6 there, 200000 here"), std::string::npos) << attack;
  const auto many = shop.imprint({"why", run, "attack"});
  EXPECT_EQ(many.code, 2);
  EXPECT_TRUE(many.err.starts_with("'attack' means 6 jobs; say more:\n")) << many.err;
  EXPECT_EQ(shop.imprint({"why", run, "train target of 001-none-seed1"}).err,
            "no job of this run is called 'train target of 001-none-seed1'; did you mean 'train "
            "target of 001-none-seed0'?; 'imprint status RUN --all' lists them\n");
}

TEST(Gc, FreesWhatNoRunRefersTo) {
  const Workshop shop;
  ASSERT_EQ(shop.run({"seeds=1"}).code, 0);
  ASSERT_EQ(shop.run({"seeds=1", "train.epochs=7"}).code, 0);
  const auto gc = [&](std::vector<std::string> more) {
    more.insert(more.begin(), "gc");
    return shop.imprint(more);
  };
  EXPECT_NE(gc({}).out.find("used by 2 runs"), std::string::npos);
  EXPECT_NE(gc({}).out.find("0 bytes freed"), std::string::npos);
  const auto trained = shop.stored("train");
  fs::remove_all(fs::canonical(shop.latest()));
  const auto dry = gc({});
  EXPECT_NE(dry.out.find("could be freed: imprint gc --delete"), std::string::npos) << dry.out;
  EXPECT_EQ(shop.stored("train"), trained);
  const auto wet = gc({"--delete"});
  EXPECT_EQ(wet.code, 0) << wet.err;
  EXPECT_EQ(shop.stored("train"), trained / 2);
  const auto left = shop.run({"seeds=1"});
  EXPECT_NE(left.err.find("nothing to do"), std::string::npos) << left.err;
  EXPECT_EQ(shop.imprint({"gc", "--store", "nowhere"}).err, "there is no store 'nowhere'\n");
}

TEST(Hostile, ExperimentFilesAreRefusedInBoundedTime) {
  Workshop shop;
  const auto refused = [&](const std::string& text) {
    const auto start = Clock::now();
    const auto message = shop.refused(text);
    EXPECT_LT(std::chrono::duration<double>(Clock::now() - start).count(), 20) << message;
    return message;
  };
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    bomb += fmt::format("a{}: &a{} [", i, i);
    for (int k = 0; k < 9; ++k) bomb += fmt::format("{}*a{}", k == 0 ? "" : ", ", i - 1);
    bomb += "]\n";
  }
  EXPECT_NE(refused(bomb).find("more than 200000 values, aliases included"), std::string::npos);
  EXPECT_NE(refused(std::string(200'000, '[')).find("nested more than 100 deep"),
            std::string::npos);
  EXPECT_NE(refused("a: " + std::string(3'000'000, 'x')).find("more than a million bytes"),
            std::string::npos);
  EXPECT_NE(refused(std::string(10'000'000, 'x')).find("more than 4 MB"), std::string::npos);
  std::string junk;
  std::mt19937 random(1);
  for (int i = 0; i < 100'000; ++i) junk += static_cast<char>(random());
  EXPECT_NE(refused(junk).find("not a text file"), std::string::npos);
  EXPECT_NE(refused("base: /dev/zero\n").find("has more than 4 MB"), std::string::npos);
}

}  // namespace
}  // namespace imprint::runs_test
