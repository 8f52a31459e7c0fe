#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
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
    const auto munge = start_munge();
    if (munge.code != 0) {
      problem_ = "munge did not start: " + munge.out + munge.err;
      return;
    }
    write_configuration();
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
  }
  SlurmCluster(const SlurmCluster&) = delete;
  SlurmCluster& operator=(const SlurmCluster&) = delete;

  /// Why there is none; empty: it works.
  const std::string& problem() const { return problem_; }
  std::string environment() const { return "SLURM_CONF=" + at("slurm.conf").string(); }
  Output run(const std::vector<std::string>& argv) const {
    return run_process(argv, {}, {environment()});
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
    host.pop_back();
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
        << "NodeName=" << host << " NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN\n"
        << "PartitionName=main Nodes=" << host << " Default=YES MaxTime=INFINITE State=UP\n";
  }

  const MachineLock alone_{"imprint-slurm.lock"};
  TempFolder folder_;
  std::string problem_;
};

}  // namespace imprint
