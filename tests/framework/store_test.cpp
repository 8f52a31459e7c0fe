// Entries, leases, recipes and the order of work.
#include "framework/runs/store.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <fstream>
#include <functional>
#include <thread>

#include "framework/runs/recipe.h"
#include "framework/runs/timetable.h"
#include "tests/support/process.h"

namespace imprint::store_test {
namespace {

namespace fs = std::filesystem;

TEST(Store, ReadsOnlyWhatWasWritten) {
  const TempFolder folder;
  const Store store(folder.path() / "store");
  Draft draft(store, "signals", "abc");
  draft.tensors({{"x", torch::arange(5)}});
  draft.text("note.txt", "hello");
  EXPECT_FALSE(store.has("signals", "abc"));
  draft.commit();
  EXPECT_TRUE(torch::equal(store.tensors("signals", "abc").at("x"), torch::arange(5)));
  EXPECT_EQ(store.text("signals", "abc", "note.txt"), "hello");
  // sha256sum agrees with the digests.
  const auto entry = store.at("signals", "abc").string();
  EXPECT_EQ(run_process({"/bin/sh", "-c", "cd " + entry + " && sha256sum -c digests"}).code, 0);
  const auto file = store.at("signals", "abc") / "tensors.safetensors";
  const auto good = file_text(file);
  for (size_t i = 0; i < good.size(); i += 7) {
    auto bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    std::ofstream(file, std::ios::binary) << bad;
    EXPECT_THROW(store.tensors("signals", "abc"), DamagedEntry) << i;
  }
  EXPECT_THROW(store.text("signals", "abc", "other"), DamagedEntry);
  EXPECT_THROW(store.text("signals", "none", "other"), DamagedEntry);
  EXPECT_TRUE(store.set_aside("signals", "abc").has_value());
  EXPECT_FALSE(store.has("signals", "abc"));
  EXPECT_FALSE(store.set_aside("signals", "abc").has_value());
}

// A process that has ended and that nobody has waited for yet, as its kin stay for ever under a
// first process that buries nobody.
class Unburied {
 public:
  explicit Unburied(const std::function<void()>& life) : pid_(::fork()) {
    if (pid_ == 0) life(), ::_exit(1);
    siginfo_t end{};
    ::waitid(P_PID, static_cast<id_t>(pid_), &end, WEXITED | WNOWAIT);
  }
  ~Unburied() { ::waitpid(pid_, nullptr, 0); }
  pid_t pid() const { return pid_; }
  Unburied(const Unburied&) = delete;
  Unburied& operator=(const Unburied&) = delete;

 private:
  pid_t pid_;
};

TEST(Store, ADraftThatIsNotCommittedLeavesNothing) {
  const TempFolder folder;
  const Store store(folder.path());
  { Draft(store, "attack", "abc").text("a", "b"); }
  EXPECT_TRUE(fs::is_empty(folder.path() / "attack"));
  // Of a process that was killed, the next sweep takes it away.
  const Unburied child([&] {
    const Draft draft(store, "attack", "abc");
    ::_exit(0);
  });
  EXPECT_FALSE(fs::is_empty(folder.path() / "attack"));
  store.sweep();
  EXPECT_TRUE(fs::is_empty(folder.path() / "attack"));
}

// A machine whose name goes on where this one's ends: its drafts are none of ours.
TEST(Store, DraftsOfOtherMachinesAreLeftAlone) {
  const TempFolder folder;
  std::array<char, 256> host{};
  ASSERT_EQ(::gethostname(host.data(), host.size() - 1), 0);
  const Unburied dead([] { ::_exit(0); });
  const auto draft = [&](const std::string& suffix) {
    return folder.path() / ("attack/.tmp-" + std::string(host.data()) + suffix);
  };
  const auto ours = draft(fmt::format("-{}-0", dead.pid()));
  const auto theirs = draft(fmt::format("-{}-77-0", dead.pid()));
  for (const auto& each : {ours, theirs}) fs::create_directories(each);
  sweep_folder(folder.path() / "attack");
  EXPECT_FALSE(fs::exists(ours));
  EXPECT_TRUE(fs::exists(theirs));
}

TEST(Store, WhatVanishesWhileItIsReadIsDamaged) {
  const TempFolder folder;
  const Store store(folder.path());
  Draft draft(store, "signals", "abc");
  draft.tensors({{"x", torch::arange(5)}});
  draft.text("note.txt", "hello");
  draft.commit();
  std::atomic<bool> over = false;
  std::thread thief([&] {
    const auto away = folder.path() / "away";
    while (!over) {
      fs::rename(store.at("signals", "abc"), away);
      fs::rename(away, store.at("signals", "abc"));
    }
  });
  for (int i = 0; i < 500; ++i) {
    try {
      EXPECT_EQ(store.text("signals", "abc", "note.txt"), "hello");
      EXPECT_TRUE(torch::equal(store.tensors("signals", "abc").at("x"), torch::arange(5)));
    } catch (const DamagedEntry&) {
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
  over = true;
  thief.join();
}

TEST(Lease, IsHeldByOneAndFreeWhenItsProcessIsGone) {
  const TempFolder folder;
  const auto file = folder.path() / "lease";
  {
    const auto mine = Lease::attempt(file);
    ASSERT_TRUE(mine.has_value());
    EXPECT_FALSE(Lease::attempt(file).has_value());
    EXPECT_TRUE(holder_of(file).held);
    EXPECT_EQ(holder_of(file).process, ::getpid());
  }
  EXPECT_FALSE(fs::exists(file));
  // Gone without a word: its lease stays behind.
  const Unburied child([&] {
    const auto lease = Lease::attempt(file);
    ::kill(::getpid(), SIGKILL);
  });
  EXPECT_TRUE(fs::exists(file));
  EXPECT_FALSE(holder_of(file).held);
  EXPECT_TRUE(Lease::attempt(file).has_value());
}

TEST(Lease, OfAnotherMachineIsRespectedWhileItIsFresh) {
  const TempFolder folder;
  const auto file = folder.path() / "lease";
  std::ofstream(file) << "elsewhere 1 1 elsewhere-1-1\n";
  EXPECT_FALSE(Lease::attempt(file).has_value());
  EXPECT_TRUE(holder_of(file).held);
}

TEST(Recipe, ItsAddressIsAFunctionOfItsParts) {
  Recipe a("train"), b("train");
  a.add("x", "1").keys("train.", "epochs: 5\nlr: 0.1");
  b.add("train.lr", "0.1").add("train.epochs", "5").add("x", "1");
  EXPECT_EQ(a.address(), b.address());
  EXPECT_EQ(Recipe::from_yaml(a.to_yaml(), "f").parts(), a.parts());
  EXPECT_NE(a.address(), Recipe("train").address());
  EXPECT_THROW(a.add("x", "2"), std::exception);
}

Job job(const std::string& address, std::vector<std::string> after, double work) {
  Job made;
  made.kind = Job::Kind::train;
  made.address = address;
  made.after = std::move(after);
  made.work = work;
  return made;
}

TEST(Timetable, StartsTheLongestChainFirst) {
  Plan plan;
  plan.jobs = {job("a", {}, 1), job("b", {}, 2), job("c", {"b"}, 5), job("d", {}, 6)};
  const auto order = working_order(plan);
  std::string text;
  for (const auto* each : order) text += each->address;
  EXPECT_EQ(text, "bdca");  // b is followed by c: 7; d: 6; c: 5; a: 1
  const auto seconds = [](const Job& each) { return each.work; };
  EXPECT_EQ(makespan(order, 1, seconds), 14);
  EXPECT_EQ(makespan(order, 2, seconds), 7);  // b c beside d a
  EXPECT_EQ(makespan(order, 9, seconds), 7);
  EXPECT_EQ(makespan(order, 2, [](const Job&) { return 0.0; }), 0);
  Plan many;
  for (int i = 0; i < 2000; ++i) many.jobs.push_back(job(std::to_string(i), {}, 1));
  EXPECT_EQ(makespan(working_order(many), 4, seconds), 500);
}

}  // namespace
}  // namespace imprint::store_test
