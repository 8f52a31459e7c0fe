#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace imprint {

/// A whole experiment of a second.
inline constexpr auto tiny = R"(name: tiny
data: {name: gaussian, records: 400, features: 20, split: {size: 50}}
model: {name: mlp, hidden: [32]}
train: {epochs: 6, batch: 16, optimizer: {lr: 0.1, momentum: 0.9}}
defenses:
  - none
  - {name: ccl, alpha: !sweep [0.3, 0.6]}
attacks: [loss, entropy]
seeds: 2
)";

/// A folder in which the program runs: experiment files, a store and runs of its own.
class Workshop {
 public:
  explicit Workshop(const std::string& experiment = tiny) { write("f.yaml", experiment); }

  void write(const std::string& name, const std::string& text) { std::ofstream(at(name)) << text; }
  std::filesystem::path at(const std::string& name) const { return folder_.path() / name; }
  Output imprint(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), IMPRINT_PROGRAM);
    return run_process(arguments, {},
                       {"IMPRINT_STORE=" + at("store").string(), "IMPRINT_HOME=" IMPRINT_SOURCE});
  }
  Output run(std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{"run", at("f.yaml").string(), "--out", at("runs").string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return imprint(arguments);
  }
  /// The message of a refused experiment, without the folder's name.
  std::string refused(const std::string& experiment) {
    write("f.yaml", experiment);
    const auto output = run();
    EXPECT_EQ(output.code, 2) << output.out << output.err;
    EXPECT_FALSE(std::filesystem::exists(at("runs"))) << "something was written";
    auto text = output.err;
    const auto prefix = folder_.path().string() + "/";
    for (size_t found = 0; (found = text.find(prefix)) != std::string::npos;)
      text.erase(found, prefix.size());
    return text.substr(0, text.find_last_not_of('\n') + 1);
  }
  std::filesystem::path latest() const { return at("runs/latest"); }
  /// Entries of the store; those being written are none yet.
  size_t stored(const std::string& kind) const {
    size_t count = 0;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(at("store") / kind, none))
      count += entry.is_directory() && !entry.path().filename().string().starts_with('.') ? 1 : 0;
    return count;
  }

 private:
  TempFolder folder_;
};

}  // namespace imprint
