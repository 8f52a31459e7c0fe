#include <fmt/format.h>

#include "framework/reports/exposure.h"
#include "framework/reports/html.h"

namespace imprint {
namespace {

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string overlap_table(const Exposure& exposure) {
  std::string html =
      "<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">attack</th>"
      "<th scope=\"col\">members found</th>";
  if (!exposure.stability.empty()) html += "<th scope=\"col\">same again in another run</th>";
  for (const auto& attack : exposure.attacks)
    html += fmt::format("<th scope=\"col\">also by {}</th>", escaped(attack));
  html += "</tr></thead>\n<tbody>\n";
  for (size_t i = 0; i < exposure.attacks.size(); ++i) {
    html += fmt::format("<tr><td>{}</td><td>{}</td>", escaped(exposure.attacks[i]),
                        percent(exposure.share[i]));
    if (!exposure.stability.empty())
      html += fmt::format("<td>{}</td>", percent(exposure.stability[i]));
    for (const auto jaccard : exposure.jaccard[i]) html += fmt::format("<td>{:.2f}</td>", jaccard);
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string record_cards(const Exposure& exposure) {
  std::string html = "<ul class=\"records\">\n";
  for (const auto& [record, found, chances, picture] : exposure.most) {
    html += "<li>";
    if (!picture.empty())
      html += fmt::format("<img alt=\"record {}\" src=\"{}\">", record, picture);
    html +=
        fmt::format("record {}<small>found {} of {} times</small></li>\n", record, found, chances);
  }
  return html + "</ul>\n";
}

}  // namespace

std::string exposures_html(const Results& results) {
  std::string html;
  for (const auto& exposure : results.exposures) {
    html += fmt::format(
        "<h3>{}</h3>\n<p>At a false positive rate of at most {}, {} of the members are found by at "
        "least one attack; of these, {} by all of them.</p>\n",
        escaped(exposure.setting), results.audit_fpr, percent(exposure.coverage),
        percent(exposure.unanimous));
    html += overlap_table(exposure) +
            "<p>The most exposed records, over all attacks and runs:</p>" + record_cards(exposure);
  }
  if (html.empty()) return "";
  return "<h2>Who is found</h2>\n<p class=\"soft\">Attacks of the same strength may find different "
         "people. <i>Also by</i>: members found by both, as a share of those found by either "
         "(Jaccard overlap), mean over runs. <i>Same again</i>: the same overlap between two runs "
         "(seeds, targets) of one attack, among records that are members in both.</p>\n" +
         html;
}

std::string choices_html(const Results& results) {
  if (results.chosen.empty()) return "";
  std::string html =
      "<h2>Chosen settings</h2>\n<p class=\"soft\">Chosen on the tune piece alone, whose records "
      "are in no other piece. Test accuracy and false alarms, of the test piece, are of other "
      "records, so the choice does not flatter them; the members are the same, so a choice by "
      "advantage or P1 flatters both a little.</p>\n"
      "<div class=\"scroll\"><table class=\"sortable\">\n<thead><tr>";
  for (const auto* title :
       {"defense", "of settings", "decided by", "there", "test acc.", "advantage", "P1 of cell"})
    html += fmt::format("<th scope=\"col\">{}</th>", title);
  html += "</tr></thead>\n<tbody>\n";
  const auto rows = summarise(results);
  for (const auto& each : results.chosen) {
    for (const auto& row : rows) {
      const auto& cell = row.cell();
      if (!cell.chosen || setting_text(cell) != each.setting || cell.data != each.data ||
          cell.model != each.model)
        continue;
      const auto text = [](const auto& spread) { return spread ? decimals(spread->mean) : ""; };
      const auto* strongest = row.strongest();
      html += fmt::format(
          "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></"
          "tr>\n",
          escaped(each.setting), each.among, escaped(each.by), decimals(each.value),
          text(row.test_accuracy), strongest ? text(strongest->advantage) : "", text(row.p1_cell));
    }
  }
  return html + "</tbody></table></div>\n";
}

std::string adaptivity_html(const Results& results) {
  const auto all = adaptivity(results);
  if (all.empty()) return "";
  std::string html =
      "<h2>Attackers who know the defense</h2>\n<p class=\"soft\">Advantage of an attacker whose "
      "shadows are trained with the target's defense, and of one whose shadows are not; difference "
      "paired by seed and target, with Student's 95 % interval.</p>\n"
      "<div class=\"scroll\"><table class=\"sortable\">\n<thead><tr>";
  for (const auto* title : {"defense", "attack", "knows the defense", "does not", "difference"})
    html += fmt::format("<th scope=\"col\">{}</th>", title);
  html += "</tr></thead>\n<tbody>\n";
  for (const auto& each : all) {
    html += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}",
                        escaped(each.setting), escaped(each.attack), decimals(each.adaptive),
                        decimals(each.other), decimals(each.difference));
    if (each.low)
      html += fmt::format("<small>[{}]</small>", decimals(Interval{*each.low, *each.high}));
    html += "</td></tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

}  // namespace imprint
