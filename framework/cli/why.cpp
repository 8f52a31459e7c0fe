#include <algorithm>
#include <set>

#include "framework/cli/commands.h"
#include "framework/cli/ready.h"
#include "framework/runs/run_record.h"

namespace imprint {
namespace {

// The only job that an address, or words of a title, mean.
const Job& find_job(const Plan& plan, const std::string& words) {
  std::vector<const Job*> found;
  for (const auto& job : plan.jobs) {
    if (job.title == words) return job;
    if (job.address.starts_with(words) || job.title.find(words) != std::string::npos)
      found.push_back(&job);
  }
  if (found.size() == 1) return *found.front();
  std::string list;
  for (size_t i = 0; i < std::min<size_t>(found.size(), 10); ++i)
    list += fmt::format("\n  {}  {}", found[i]->address.substr(0, 8), found[i]->title);
  if (found.size() > 10) list += fmt::format("\n  and {} more", found.size() - 10);
  std::vector<std::string> titles;
  for (const auto& job : plan.jobs) titles.push_back(job.title);
  throw ConfigError(
      found.empty() ? fmt::format("no job of this run is called '{}'{}; 'imprint status RUN --all' "
                                  "lists them",
                                  words, did_you_mean(words, titles))
                    : fmt::format("'{}' means {} jobs; say more:{}", words, found.size(), list));
}

std::string short_value(const std::string* value) {
  if (value == nullptr) return "(none)";
  const bool digest =
      value->size() == 64 && value->find_first_not_of("0123456789abcdef") == std::string::npos;
  return digest ? value->substr(0, 12) : *value;
}

// Parts in which two recipes differ: name, stored value, wanted value.
struct Difference {
  std::string part;
  const std::string *stored, *wanted;
};

std::vector<Difference> differences(const Recipe& stored, const Recipe& wanted) {
  std::set<std::string> parts;
  for (const auto& [part, value] : stored.parts()) parts.insert(part);
  for (const auto& [part, value] : wanted.parts()) parts.insert(part);
  const auto value_in = [](const Recipe& recipe, const std::string& part) {
    const auto found = recipe.parts().find(part);
    return found == recipe.parts().end() ? nullptr : &found->second;
  };
  std::vector<Difference> all;
  for (const auto& part : parts) {
    const auto *before = value_in(stored, part), *now = value_in(wanted, part);
    if (before == nullptr || now == nullptr || *before != *now) all.push_back({part, before, now});
  }
  return all;
}

struct Nearest {
  std::string address;
  Recipe recipe;
};

std::optional<Nearest> nearest_stored(const Job& job, const Store& store) {
  std::optional<Nearest> best;
  size_t fewest = 0;
  for (const auto& address : store.entries(job.folder())) {
    try {
      auto recipe = Recipe::from_yaml(store.text(job.folder(), address, "job.yaml"), address);
      const auto count = differences(recipe, job.recipe).size();
      if (best && count >= fewest) continue;
      fewest = count;
      best = Nearest{address, std::move(recipe)};
    } catch (const std::exception&) {
      // Of a measure that watched a training, or damaged: nothing to compare with.
    }
  }
  return best;
}

class Explanation {
 public:
  Explanation(const Plan& plan, const Store& store) : plan_(plan), store_(store) {}

  void explain(const Job& job, int depth = 0) {
    const std::string margin(static_cast<size_t>(2 * depth), ' ');
    fmt::print("{}{} {}  {}\n", margin, job.folder(), job.address.substr(0, 8), job.title);
    if (plan_.stored(job, store_)) {
      fmt::print("{}  stored in {}: it is reused, since everything it depends on is the same\n",
                 margin, store_.at(job.folder(), job.address).string());
      return;
    }
    if (store_.has(job.folder(), job.address)) {
      fmt::print("{}  to be repeated to the same bits: ", margin);
      size_t missing = 0;
      for (const auto& [kind, address] : plan_.made_by(job))
        missing += store_.has(kind, address) ? 0 : 1;
      fmt::print("{} of the snapshots and measures wanted of it are not stored\n", missing);
      return;
    }
    compare(job, margin, depth);
  }

 private:
  void compare(const Job& job, const std::string& margin, int depth) {
    const auto nearest = nearest_stored(job, store_);
    if (!nearest) {
      fmt::print("{}  to be done: the store has no {} at all\n", margin, job.folder());
      return;
    }
    fmt::print("{}  to be done: the nearest stored, {}, differs in\n", margin,
               nearest->address.substr(0, 8));
    for (const auto& [part, stored, wanted] : differences(nearest->recipe, job.recipe))
      fmt::print("{}    {}: {} there, {} here\n", margin, part, short_value(stored),
                 short_value(wanted));
    // Where a job before it differs, the reason lies there.
    for (const auto& before : job.after) {
      const auto found = std::find_if(plan_.jobs.begin(), plan_.jobs.end(),
                                      [&](const Job& each) { return each.address == before; });
      if (found == plan_.jobs.end() || plan_.stored(*found, store_)) continue;
      fmt::print("{}  because of\n", margin);
      return explain(*found, depth + 1);
    }
  }

  const Plan& plan_;
  const Store& store_;
};

}  // namespace

int why_command(const LookOptions& options) {
  const auto record = read_run_record(options.run);
  RunOptions run;
  run.file = (options.run / "config.yaml").string();
  const auto ready = prepare(run);
  const Store store(record.store);
  Explanation(ready.plan, store).explain(find_job(ready.plan, options.job));
  return 0;
}

}  // namespace imprint
