#include <fmt/format.h>

#include <algorithm>

#include "framework/reports/html.h"

namespace imprint {
namespace {

std::string cell(const std::string& text) { return fmt::format("<td>{}</td>", escaped(text)); }

std::string cell(const std::optional<double>& value) {
  return value ? fmt::format("<td>{}</td>", *value) : "<td></td>";
}

/// Parentheses for records, brackets for repetitions, as in the console.
std::string intervals(const Spread& spread) {
  std::string html;
  if (spread.records) html += fmt::format("<small>({})</small>", decimals(*spread.records));
  if (spread.repeats) html += fmt::format("<small>[{}]</small>", decimals(*spread.repeats));
  return html;
}

std::string cell(const Spread& spread) {
  return fmt::format("<td data-sort=\"{}\">{}{}</td>", spread.mean, decimals(spread.mean),
                     intervals(spread));
}

std::string mean_cell(const Spread& spread) {
  return fmt::format("<td data-sort=\"{}\">{}</td>", spread.mean, decimals(spread.mean));
}

std::string missing_cell(const std::string& why) {
  return fmt::format("<td class=\"missing\" data-sort=\"\">{}</td>", why);
}

std::string header_row(const std::vector<std::string>& titles) {
  std::string html = "<thead><tr>";
  for (const auto& title : titles) html += fmt::format("<th scope=\"col\">{}</th>", title);
  return html + "</tr></thead>\n<tbody>\n";
}

std::vector<std::string> result_titles(bool several_scenes, bool foreign) {
  std::vector<std::string> titles = {foreign ? "outputs" : "defense", "attack"};
  if (several_scenes) titles.insert(titles.begin(), {"data", "model"});
  titles.insert(titles.end(),
                {"train acc.", "test acc.", "advantage", "best threshold (optimistic)", "AUC"});
  for (const double fpr : reported_fprs()) titles.push_back(fmt::format("TPR at FPR {}", fpr));
  titles.insert(titles.end(), {"epsilon at least", "P1", "P1 of cell"});
  return titles;
}

std::string names(const Summary& row, bool several_scenes) {
  const auto& first = row.cell();
  return (several_scenes ? cell(first.data) + cell(first.model) : "") +
         fmt::format("<td data-sort=\"{}\">{}<small>{}</small></td>", escaped(setting_text(first)),
                     escaped(first.label), escaped(swept_text(first)));
}

std::string cell_or(const std::optional<Spread>& spread, const std::string& why) {
  return spread ? cell(*spread) : missing_cell(why);
}

std::string accuracy_cells(const Summary& row) {
  return (row.train_accuracy ? mean_cell(*row.train_accuracy) : missing_cell("")) +
         cell_or(row.test_accuracy, "");
}

std::string attack_row(const Summary& row, const AttackSummary& attack, bool several_scenes) {
  auto html = fmt::format("<tr data-attack=\"{}\" data-strongest=\"{}\"{}>", escaped(attack.attack),
                          &attack == row.strongest() ? "yes" : "no",
                          row.undefended() ? " class=\"undefended\"" : "");
  html += names(row, several_scenes);
  html += fmt::format("<td data-sort=\"{0}\">{0}<small>n = {1} + {2}</small></td>",
                      escaped(attack.attack), attack.members, attack.non_members);
  html += accuracy_cells(row) + cell_or(attack.advantage, "no threshold");
  html += mean_cell(attack.advantage_best) + cell(attack.auc);
  for (const auto& tpr : attack.tpr_at) html += cell_or(tpr, "n too small");
  html += mean_cell(attack.epsilon_low) + (attack.p1 ? mean_cell(*attack.p1) : missing_cell(""));
  return html + cell_or(row.p1_cell, "") + "</tr>\n";
}

std::string row_without_attack(const Summary& row, bool several_scenes) {
  auto html = "<tr data-strongest=\"yes\">" + names(row, several_scenes);
  html += "<td class=\"missing\">none run</td>";
  html += accuracy_cells(row);
  for (size_t i = 0; i < 6 + reported_fprs().size(); ++i) html += "<td></td>";
  return html + "</tr>\n";
}

std::string attack_filter(const std::vector<Summary>& rows) {
  std::vector<std::string> attacks;
  for (const auto& row : rows) {
    for (const auto& attack : row.attacks) {
      if (std::find(attacks.begin(), attacks.end(), attack.attack) != attacks.end()) continue;
      attacks.push_back(attack.attack);
    }
  }
  std::string html =
      "<label class=\"filter\">Show <select id=\"attack-filter\"><option value=\"strongest\">the "
      "strongest attack of each setting</option>";
  html += fmt::format("<option value=\"all\"{}>all attacks</option>",
                      rows.front().cell().foreign() ? " selected" : "");
  for (const auto& attack : attacks) {
    html += fmt::format("<option value=\"{0}\">{0}</option>", escaped(attack));
  }
  return html + "</select></label>\n";
}

const char* const kIntervals =
    "Means over seeds. (low, high): 95 % interval over the records of one model, averaged over "
    "seeds; it says nothing about another seed. [low, high]: 95 % Student interval over seeds. "
    "n: members + non-members. Epsilon at least: 95 % lower bound on the epsilon of differential "
    "privacy that the attack's error rates allow, taking records as independent. P1 of cell: with "
    "the strongest attack. "
    "<b>n too small</b>: there are fewer non-members than one false alarm at that rate needs. "
    "The best threshold is chosen with the answers in hand, so no attacker attains it. "
    "Click on a heading to sort.";

std::string optional_number(const std::optional<int64_t>& value) {
  return value ? fmt::format("<td>{}</td>", *value) : "<td></td>";
}

}  // namespace

std::string results_table_html(const std::vector<Summary>& rows) {
  if (rows.empty()) return "";
  const auto& first = rows.front().cell();
  const bool several = std::any_of(rows.begin(), rows.end(), [&](const Summary& row) {
    return row.cell().data != first.data || row.cell().model != first.model;
  });
  auto html = fmt::format("<h2>Results</h2>\n<p class=\"soft\">{}</p>\n{}", kIntervals,
                          attack_filter(rows));
  html += "<div class=\"scroll\"><table id=\"results\" class=\"sortable\">\n" +
          header_row(result_titles(several, first.foreign()));
  for (const auto& row : rows) {
    for (const auto& attack : row.attacks) html += attack_row(row, attack, several);
    if (row.attacks.empty()) html += row_without_attack(row, several);
  }
  return html + "</tbody></table></div>\n";
}

std::string threats_html(const Results& results) {
  std::vector<std::pair<std::string, std::string>> threats;
  for (const auto& result : results.cells) {
    for (const auto& attack : result.attacks) {
      const std::pair entry{attack.attack, attack.threat};
      if (std::find(threats.begin(), threats.end(), entry) == threats.end()) {
        threats.push_back(entry);
      }
    }
  }
  if (threats.empty()) return "";
  std::string html = "<h2>What each attacker is given</h2>\n<dl>\n";
  for (const auto& [attack, threat] : threats) {
    html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(attack), escaped(threat));
  }
  return html + "</dl>\n";
}

std::string verdicts_html(const Results& results) {
  if (results.verdicts.empty()) return "";
  auto html = "<h2>Claims</h2>\n<div class=\"scroll\"><table class=\"sortable\">\n" +
              header_row({"claim", "published", "measured", "interval", "verdict"});
  for (const auto& verdict : results.verdicts) {
    html += "<tr>" + cell(verdict.claim) + cell(verdict.published) + cell(verdict.measured);
    html += cell(verdict.interval);
    html += fmt::format("<td class=\"verdict {0}\">{0}{1}</td></tr>\n", escaped(verdict.verdict),
                        verdict.scaled ? "<span class=\"scaled\">scaled</span>" : "");
  }
  return html + "</tbody></table></div>\n";
}

std::string metrics_html(const Results& results) {
  std::string body;
  for (const auto& result : results.cells) {
    for (const auto& metric : result.metrics) {
      body += "<tr>" + cell(result.id) +
              optional_number(result.foreign() ? std::nullopt : std::optional(result.seed)) +
              optional_number(result.target) + cell(metric.metric) +
              cell(std::optional(metric.value)) + cell(metric.low) + cell(metric.high) +
              optional_number(metric.n) + "</tr>\n";
    }
  }
  if (body.empty()) return "";
  return "<details>\n<summary>Metrics</summary>\n"
         "<div class=\"scroll\"><table class=\"sortable\">\n" +
         header_row({"cell", "seed", "target", "metric", "value", "low", "high", "n"}) + body +
         "</tbody></table></div>\n</details>\n";
}

}  // namespace imprint
