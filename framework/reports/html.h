#pragma once

#include <string>
#include <vector>

#include "framework/reports/results.h"
#include "framework/reports/summary.h"

namespace imprint {

/// The whole report as one page that needs no network. `vega_bundle_js` is the module that
/// `vl_convert.javascript_bundle()` hands out; it is inlined once.
std::string html_report(const Results& results, const std::string& vega_bundle_js);

/// Text for the inside of an element or of a quoted attribute.
std::string escaped(const std::string& text);

/// JSON for the inside of a script element: pure ASCII without '<'.
std::string script_json(const nlohmann::json& value);

/// One row per setting and attack, with intervals, sortable, and a choice of attacks above.
std::string results_table_html(const std::vector<Summary>& rows);

/// What each attacker is given, one line per attack.
std::string threats_html(const Results& results);

/// Whom the attacks find, how far they agree, and the most exposed records; empty where nobody is
/// found.
std::string exposures_html(const Results& results);

/// Which setting of each label was chosen, and on what; empty without a choice.
std::string choices_html(const Results& results);

/// What knowing the defense is worth to an attacker; empty where `shadows.defense` is not swept.
std::string adaptivity_html(const Results& results);

/// Defenses compared at equal test accuracy, and the settings that no other one beats; empty with
/// fewer than two curves of the same task.
std::string matched_html(const Results& results);

/// Claims beside what was found; empty without verdicts.
std::string verdicts_html(const Results& results);

/// The rows of metrics.csv, collapsed; empty without metrics.
std::string metrics_html(const Results& results);

}  // namespace imprint
