#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <system_error>
#include <thread>

#include "tests/support/process.h"

namespace imprint {

/// A lock of this machine, waited for and held to the end of the scope.
class MachineLock {
 public:
  explicit MachineLock(const std::string& name)
      : fd_(::open((std::filesystem::temp_directory_path() / name).c_str(),
                   O_CREAT | O_RDWR | O_CLOEXEC, 0666)) {
    while (::flock(fd_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~MachineLock() { ::close(fd_); }
  /// What its last holder left for the next.
  std::string text() const {
    std::string text(4096, '\0');
    const auto size = ::pread(fd_, text.data(), text.size(), 0);
    return text.substr(0, static_cast<size_t>(std::max<ssize_t>(size, 0)));
  }
  void leave(const std::string& text) const {
    if (::ftruncate(fd_, 0) != 0 || ::pwrite(fd_, text.data(), text.size(), 0) < 0)
      throw std::system_error(errno, std::system_category(), "cannot write a lock");
  }
  MachineLock(const MachineLock&) = delete;
  MachineLock& operator=(const MachineLock&) = delete;

 private:
  int fd_;
};

/// A real Slurm of one node of two CPUs on loopback, with ports and folders of its own; stopped at
/// the end of the scope. One at a time: tests run side by side, and two nodes of one name do not.
class SlurmCluster {
 public:
  SlurmCluster() {
    if (::geteuid() != 0 || run_process({"slurmctld", "-V"}).code != 0) {
      problem_ = "Slurm needs root and the packages slurm-wlm and munge";
      return;
    }
    end_leftovers();
    const auto munge = start_munge();
    if (munge.code != 0) {
      problem_ = "munge did not start: " + munge.out + munge.err;
      return;
    }
    write_configuration();
    alone_.leave(environment());
    const auto controller = run({"slurmctld"}), node = run({"slurmd"});
    if (!waits([&] { return idle(); }))
      problem_ =
          "Slurm did not start: " + controller.err + node.err + log("ctld.log") + log("d.log");
  }
  ~SlurmCluster() {
    if (!problem_.empty() && !std::filesystem::exists(at("slurm.conf"))) return;
    run({"scancel", "--user=root"});
    run({"scontrol", "shutdown"});
    waits([&] { return !alive(); });  // both write into the folder until they have ended
    alone_.leave("");
  }
  SlurmCluster(const SlurmCluster&) = delete;
  SlurmCluster& operator=(const SlurmCluster&) = delete;

  /// Why there is none; empty: it works.
  const std::string& problem() const { return problem_; }
  std::string environment() const { return "SLURM_CONF=" + at("slurm.conf").string(); }
  Output run(const std::vector<std::string>& argv) const {
    return run_process(argv, {}, {environment()});
  }
  /// What `squeue` shows of jobs in some states, after seconds in which it may become nothing.
  std::string left(const std::string& states) const {
    std::string jobs;
    for (int i = 0; i < 100; ++i) {
      jobs = run({"squeue", "--noheader", "--states=" + states}).out;
      if (jobs.empty()) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return jobs;
  }
  std::string log(const std::string& name) const { return file_text(at(name)); }

 private:
  std::filesystem::path at(const std::string& name) const { return folder_.path() / name; }

  bool idle() const { return run({"sinfo", "--noheader", "--format=%T"}).out.starts_with("idle"); }

  // Half a minute: machines that run tests may be slow.
  static bool waits(const std::function<bool()>& what) {
    for (int i = 0; i < 300; ++i) {
      if (what()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return false;
  }

  // A process that is dead but not buried has no command line.
  bool alive() const {
    for (const auto* name : {"ctld.pid", "d.pid"}) {
      const auto pid = std::atoi(file_text(at(name)).c_str());
      if (pid > 0 && !file_text("/proc/" + std::to_string(pid) + "/cmdline").empty()) return true;
    }
    return false;
  }

  // Whatever a test that was killed has left: all of it has its configuration in its environment.
  void end_leftovers() const {
    const auto entry = alone_.text();
    if (!entry.starts_with("SLURM_CONF=/")) return;
    std::error_code none;
    for (const auto& process : std::filesystem::directory_iterator("/proc", none)) {
      const auto pid = std::atoi(process.path().filename().c_str());
      const auto variables = '\0' + file_text(process.path() / "environ");
      if (pid > 0 && variables.find('\0' + entry + '\0') != std::string::npos) ::kill(pid, SIGKILL);
    }
    const auto folder = std::filesystem::path(entry.substr(entry.find('/'))).parent_path();
    // Anybody may write into the lock.
    if (folder.parent_path() == folder_.path().parent_path() &&
        folder.filename().string().starts_with("imprint."))
      std::filesystem::remove_all(folder, none);
    alone_.leave("");
  }

  static Output start_munge() {
    auto answer = run_process({"munge", "--no-input"});
    if (answer.code == 0) return answer;
    auto start =
        run_process({"/bin/bash", "-c",
                     "[ -e /etc/munge/munge.key ] || runuser -u munge -- mungekey -c; mkdir -p "
                     "/run/munge; chown munge: /run/munge; runuser -u munge -- munged"});
    waits([&] { return (answer = run_process({"munge", "--no-input"})).code == 0; });
    return answer.code == 0 ? answer : Output{1, start.out, start.err + answer.err};
  }

  void write_configuration() const {
    std::filesystem::create_directories(at("state"));
    std::filesystem::create_directories(at("spool"));
    auto host = run_process({"hostname", "-s"}).out;
    host = host.substr(0, host.find('\n'));
    const auto port = 20000 + 2 * (::getpid() % 6000);  // below those handed out to clients
    const auto folder = folder_.path().string();
    std::ofstream(at("slurm.conf"))
        << "ClusterName=local\nSlurmctldHost=" << host << "(127.0.0.1)\nSlurmUser=root\n"
        << "SlurmctldPort=" << port << "\nSlurmdPort=" << port + 1 << "\n"
        << "StateSaveLocation=" << folder << "/state\nSlurmdSpoolDir=" << folder << "/spool\n"
        << "SlurmctldPidFile=" << folder << "/ctld.pid\nSlurmdPidFile=" << folder << "/d.pid\n"
        << "SlurmctldLogFile=" << folder << "/ctld.log\nSlurmdLogFile=" << folder << "/d.log\n"
        << "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n"
        << "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nReturnToService=2\n"
        << "SchedulerParameters=sched_interval=1,sched_min_interval=0\nKillWait=5\n"
        << "SlurmdParameters=config_overrides\n"
        << "NodeName=" << host << " NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN\n"
        << "PartitionName=main Nodes=" << host << " Default=YES MaxTime=INFINITE State=UP\n";
  }

  const MachineLock alone_{"imprint-slurm.lock"};
  TempFolder folder_;
  std::string problem_;
};

}  // namespace imprint
