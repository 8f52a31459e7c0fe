#include "framework/reports/expect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "framework/config/keys.h"
#include "framework/reports/tables.h"

namespace imprint {
namespace {

/// From a row with every column filled, so that no list of columns can go stale.
std::vector<std::string> numeric_columns() {
  AttackResult attack;
  attack.p1 = 0;
  for (const double fpr : reported_fprs()) {
    TprAt at;
    at.fpr = fpr;
    at.enough = true;
    attack.score.tpr_at.push_back(at);
  }
  CellResult cell;
  cell.train_accuracy = cell.test_accuracy = 0;
  cell.attacks = {attack};
  cell.p1_cell = CellP1{};
  Results results;
  results.cells = {cell};
  const auto rows = result_rows(results);
  std::vector<std::string> columns;
  for (const auto& [column, value] : rows.front().values.items()) {
    if (value.is_number() && column != "seed" && column != "target") columns.push_back(column);
  }
  return columns;
}

/// `component.metric`; the dot of tpr_at_0.05 is another one.
bool reads_as_metric(const std::string& name) {
  const auto dot = name.rfind('.');
  return dot != std::string::npos && dot > 0 && dot + 1 < name.size() &&
         std::isdigit(static_cast<unsigned char>(name[dot + 1])) == 0;
}

void check_metric(const std::string& name, const Mark& mark, Problems& problems) {
  auto columns = numeric_columns();
  if (std::find(columns.begin(), columns.end(), name) != columns.end() || reads_as_metric(name)) {
    return;
  }
  const auto hint = did_you_mean(name, columns);
  std::erase_if(columns, [](const std::string& column) {
    return column.ends_with("_low") || column.ends_with("_high");
  });
  problems.add(mark,
               fmt::format("'{}' is neither a numeric column of results.csv nor a metric named "
                           "component.metric{} (columns: {})",
                           name, hint, joined(columns)));
}

Selector read_cell(const Value* cell, Problems& problems) {
  if (cell == nullptr) return {};
  if (!cell->is_map()) {
    problems.add(cell->mark,
                 fmt::format("cell must be a map such as {{defense: ccl, alpha: 0.5}}, not {}",
                             to_flow(*cell)));
  }
  return read_selector(*cell, problems);
}

Against read_against(bool above, const std::string& path, const Value& limit, Problems& problems) {
  if (limit.is_map()) return {above, read_selector(limit, problems), 0};
  const auto number = as_number(limit);
  if (!number || !std::isfinite(*number)) {
    problems.add(limit.mark,
                 fmt::format("{} must be a number or a cell such as {{defense: none}}, not {}",
                             path, to_flow(limit)));
  }
  return {above, number.value_or(0), 0};
}

Near read_near(const Value& near, Problems& problems) {
  std::vector<double> numbers;
  for (const auto& item : near.items) {
    const auto number = as_number(item);
    if (number && std::isfinite(*number)) numbers.push_back(*number);
  }
  if (near.items.size() != 2 || numbers.size() != 2) {
    problems.add(near.mark, fmt::format("near must be two numbers, [value, tolerance], not {}",
                                        to_flow(near)));
    return {};
  }
  if (numbers[1] <= 0) {
    problems.add(near.items[1].mark, fmt::format("the tolerance of near must be above 0, not {}",
                                                 canonical(numbers[1])));
  }
  return {numbers[0], numbers[1]};
}

Monotone read_monotone(Keys keys, const Value& written) {
  auto inner = keys.section("monotone");
  if (!written.is_map()) return {};
  Monotone form;
  form.over = inner.text("over").doc("the swept key to go along, such as ccl.alpha").get();
  const auto direction = inner.choice("direction", {"increasing", "decreasing"}).get();
  if (!inner.has("direction")) {
    inner.problem("direction",
                  "this claim needs the key 'monotone.direction' (increasing or decreasing)");
  }
  form.increasing = direction == "increasing";
  return form;
}

LowestAmong read_lowest(const Value& rivals, Problems& problems) {
  if (rivals.is_map()) return {{read_selector(rivals, problems)}};
  LowestAmong form;
  bool maps = rivals.is_list() && !rivals.items.empty();
  for (const auto& item : rivals.items) {
    maps = maps && item.is_map();
    form.rivals.push_back(read_selector(item, problems));
  }
  if (!maps) {
    problems.add(rivals.mark,
                 fmt::format("lowest_among must be a cell such as {{defense: ccl}} or a list of "
                             "cells, not {}",
                             to_flow(rivals)));
  }
  return form;
}

void read_form(Keys keys, Claim& claim, Problems& problems) {
  const std::vector<std::string> forms = {"above", "below", "near", "monotone", "lowest_among"};
  std::vector<std::string> given;
  for (const auto& form : forms) {
    if (keys.raw(form) != nullptr) given.push_back(form);
  }
  if (given.empty()) problems.add(keys.mark(), "this claim needs one of " + joined(forms));
  if (given.size() > 1) {
    keys.problem(given[1], fmt::format("a claim takes one form, not {}", joined(given, " and ")));
  }
  if (given.size() != 1) return;
  const auto& form = given.front();
  const auto& written = *keys.raw(form);
  if (form == "near") {
    claim.form = read_near(written, problems);
  } else if (form == "monotone") {
    claim.form = read_monotone(keys, written);
  } else if (form == "lowest_among") {
    claim.form = read_lowest(written, problems);
  } else {
    auto against = read_against(form == "above", form, written, problems);
    against.margin = keys.number("margin", 0).at_least(0).doc("how far on the wrong side will do");
    claim.form = against;
  }
}

std::vector<Condition> read_where(Keys keys, Problems& problems) {
  auto where = keys.section("where");
  const auto* written = keys.raw("where");
  std::vector<Condition> conditions;
  if (written == nullptr || !written->is_map()) return conditions;
  for (const auto& entry : written->entries) {
    check_metric(entry.key, entry.mark, problems);
    auto sides = where.section(entry.key);
    const auto before = conditions.size();
    for (const std::string side : {"above", "below"}) {
      const auto* limit = sides.raw(side);
      if (limit == nullptr) continue;
      const auto path = fmt::format("where.{}.{}", entry.key, side);
      conditions.push_back({entry.key, read_against(side == "above", path, *limit, problems)});
    }
    if (entry.value.is_map() && conditions.size() == before) {
      problems.add(entry.value.mark, fmt::format("where.{} needs above or below", entry.key));
    }
  }
  return conditions;
}

std::string read_published(Keys keys, bool pair) {
  const auto* written = keys.raw("published");
  if (written == nullptr) return "";
  if (written->is_scalar()) return written->text;
  std::vector<std::string> numbers;
  for (const auto& item : written->items) {
    if (as_number(item)) numbers.push_back(item.text);
  }
  if (numbers.empty() || numbers.size() != written->items.size()) {
    keys.problem("published",
                 fmt::format("published must be a number, a list of numbers or text, not {}",
                             to_flow(*written)));
  }
  return joined(numbers, pair && numbers.size() == 2 ? " against " : ", ");
}

/// An attack that changes nothing is a claim about something else than its author thinks.
void check_attack(const Claim& claim, Keys keys) {
  bool depends = depends_on_attack(claim.metric);
  for (const auto& condition : claim.where) depends |= depends_on_attack(condition.metric);
  if (depends || claim.attack.empty()) return;
  keys.problem("attack",
               fmt::format("{} does not depend on the attack; leave out 'attack'", claim.metric));
}

Claim read_claim(const Value& map, Problems& problems) {
  Keys keys(map, new_reading("this claim", problems));
  Claim claim;
  claim.claim = keys.text("claim").doc("what is claimed, in words").get();
  claim.metric = keys.text("metric").doc("a column of results.csv, or component.metric").get();
  claim.attack = keys.text("attack", "").get();
  claim.scaled = keys.flag("scaled", false).get();
  claim.cell = read_cell(keys.raw("cell"), problems);
  read_form(keys, claim, problems);
  claim.where = read_where(keys, problems);
  const auto* against = std::get_if<Against>(&claim.form);
  claim.published =
      read_published(keys, against && std::holds_alternative<Selector>(against->limit));
  if (!claim.metric.empty()) {
    check_metric(claim.metric, keys.mark("metric"), problems);
    check_attack(claim, keys);
  }
  keys.finish();
  return claim;
}

}  // namespace

std::vector<Claim> read_claims(const Value& expect, Problems& problems) {
  if (!expect.is_list() && expect.kind != Value::Kind::null) {
    problems.add(expect.mark, "expect must be a list");
  }
  std::vector<Claim> claims;
  for (const auto& item : expect.items) {
    if (item.is_map()) {
      claims.push_back(read_claim(item, problems));
    } else {
      problems.add(item.mark,
                   "a claim is a map such as {claim: CCL protects, metric: advantage, cell: "
                   "{defense: ccl}, below: {defense: none}}");
    }
  }
  return claims;
}

}  // namespace imprint
