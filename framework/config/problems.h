#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace imprint {

/// Where something was written. A line of 0 means it came from the command line, and `file` is then
/// the argument itself; an empty file means text without a file (tests, defaults).
struct Mark {
  std::string file;
  int line = 0;
  int column = 0;

  /// "file:line:column: ", "line:column: " or "command line 'train.epochs=x': ".
  std::string prefix() const;
};

/// What the user wrote is wrong. `what()` holds every problem found, one per line.
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Collects problems so that the user sees all of them at once. A problem is kept once, however
/// many cells of a sweep run into it.
class Problems {
 public:
  void add(const Mark& mark, const std::string& message);
  bool empty() const { return lines_.empty(); }
  const std::vector<std::string>& lines() const { return lines_; }

  /// Throws a ConfigError with all problems, if there are any.
  void raise() const;

 private:
  std::vector<std::string> lines_;
};

/// "; did you mean 'alpha'?" for the nearest of `allowed`, or nothing when none is near.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& allowed);

/// "a, b, c".
std::string joined(const std::vector<std::string>& words, const std::string& separator = ", ");

}  // namespace imprint
