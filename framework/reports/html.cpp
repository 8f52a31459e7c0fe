#include "framework/reports/html.h"

#include <fmt/format.h>

#include <set>

#include "framework/reports/figures.h"
#include "framework/reports/page.h"

namespace imprint {
namespace {

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

/// Inside JavaScript strings and regular expressions these escapes mean the same, but the HTML
/// parser no longer takes them for the end of the script.
std::string script_code(std::string code) {
  for (const auto* word : {"script", "SCRIPT", "Script"}) {
    replace_all(code, std::string("</") + word, std::string("<\\/") + word);
  }
  replace_all(code, "<!--", "\\x3C!--");
  return code;
}

/// The policy lets the browser itself vouch that the page fetches nothing. Vega compiles its
/// expressions at run time, hence unsafe-eval; it exports pictures as data and blob addresses.
std::string head(const Results& results) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; "
      "img-src data: blob:\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n"
      "<title>{} - Imprint</title>\n<style>{}</style>\n</head>\n",
      escaped(results.name), kPageStyle);
}

std::string extent(const Results& results, const std::vector<Summary>& rows) {
  std::set<int64_t> seeds;
  std::set<std::string> attacks;
  for (const auto& cell : results.cells) {
    seeds.insert(cell.seed);
    for (const auto& attack : cell.attacks) attacks.insert(attack.attack);
  }
  const auto attacked = counted(static_cast<int64_t>(attacks.size()), "attack");
  if (rows.size() == 1 && rows.front().cell().foreign())
    return fmt::format("somebody else's model, {}.", attacked);
  return fmt::format("{}, {}, {}.", counted(static_cast<int64_t>(rows.size()), "setting"),
                     counted(static_cast<int64_t>(seeds.size()), "seed"), attacked);
}

std::string opening(const Results& results, const std::vector<Summary>& rows) {
  auto html = fmt::format("<header>\n<h1>{}</h1>\n<p class=\"soft\">Imprint report: {}</p>\n",
                          escaped(results.name), extent(results, rows));
  for (const auto& paragraph : findings(results)) {
    html += fmt::format("<p class=\"summary\">{}</p>\n", escaped(paragraph));
  }
  if (!results.notes.empty()) {
    html += "<ul class=\"notes\">\n";
    for (const auto& note : results.notes) html += fmt::format("<li>{}</li>\n", escaped(note));
    html += "</ul>\n";
  }
  return html +
         "<noscript><p class=\"warning\">The charts need JavaScript.</p></noscript>\n"
         "</header>\n";
}

std::string chart(const Drawing& drawing, size_t index) {
  auto html = fmt::format("<section>\n<h2>Figure {}: {}</h2>\n", index + 1, escaped(drawing.title));
  if (drawing.spec.is_null()) {
    return html +
           fmt::format("<p class=\"warning\">{}</p>\n</section>\n", escaped(drawing.caption));
  }
  return html +
         fmt::format(
             "<figure>\n<figcaption>{}</figcaption>\n"
             "<div class=\"chart\" data-spec=\"spec-{}\" data-name=\"{}\"></div>\n</figure>\n"
             "<script type=\"application/json\" id=\"spec-{}\">{}</script>\n</section>\n",
             escaped(drawing.caption), index, escaped(drawing.name), index,
             script_json(drawing.spec));
}

std::string charts(const Results& results) {
  std::string html;
  size_t index = 0;
  for (const auto& drawing : drawings(results)) html += chart(drawing, index++);
  return html;
}

std::string folded(const std::string& title, const std::string& text) {
  if (text.empty()) return "";
  return fmt::format("<details>\n<summary>{}</summary>\n<pre>{}</pre>\n</details>\n", title,
                     escaped(text));
}

std::string environment(const Results& results) {
  if (results.environment.is_null()) return "";
  return results.environment.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string escaped(const std::string& text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

std::string script_json(const nlohmann::json& value) {
  auto text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  replace_all(text, "<", "\\u003c");
  return text;
}

std::string html_report(const Results& results, const std::string& vega_bundle_js) {
  const auto rows = summarise(results);
  auto html = head(results) + "<body>\n<main>\n" + opening(results, rows) + charts(results);
  html += results_table_html(rows) + choices_html(results) + matched_html(results) +
          adaptivity_html(results) + exposures_html(results) + threats_html(results) +
          verdicts_html(results);
  const auto details = metrics_html(results) + folded("Configuration", results.config) +
                       folded("Environment", environment(results));
  if (!details.empty()) html += "<h2>Details</h2>\n" + details;
  html += "</main>\n<script type=\"module\">" + script_code(vega_bundle_js) + "</script>\n";
  return html + fmt::format("<script type=\"module\">{}</script>\n</body>\n</html>\n", kPageScript);
}

}  // namespace imprint
