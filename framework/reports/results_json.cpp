#include "framework/reports/matched_utility.h"
#include "framework/reports/tables.h"

namespace imprint {
namespace {

using nlohmann::json;

json verdict_json(const Verdict& verdict) {
  return {{"claim", verdict.claim},       {"published", verdict.published},
          {"measured", verdict.measured}, {"interval", verdict.interval},
          {"verdict", verdict.verdict},   {"scaled", verdict.scaled}};
}

json exposure_json(const Exposure& exposure) {
  json most = json::array();
  for (const auto& each : exposure.most)
    most.push_back({{"record", each.record}, {"found", each.found}, {"chances", each.chances}});
  return {{"setting", exposure.setting},
          {"runs", exposure.runs},
          {"attacks", exposure.attacks},
          {"share", exposure.share},
          {"jaccard", exposure.jaccard},
          {"coverage", exposure.coverage},
          {"unanimous", exposure.unanimous},
          {"stability", exposure.stability},
          {"most", most}};
}

}  // namespace

json results_json(const Results& results) {
  json out = {{"name", results.name},
              {"notes", results.notes},
              {"environment", results.environment},
              {"results", json::array()},
              {"metrics", json::array()},
              {"verdicts", json::array()},
              {"attacks", json::object()},
              {"exposure", json::array()},
              {"stages", json::array()},
              {"chosen", json::array()},
              {"matched", matched_json(results)}};
  for (const auto& row : result_rows(results)) {
    json values = row.values;
    for (const auto& [path, value] : row.cell->swept) values[path] = number_or_text(value);
    out["results"].push_back(std::move(values));
    if (row.attack) out["attacks"][row.attack->attack] = row.attack->threat;
  }
  for (const auto& row : metric_rows(results)) out["metrics"].push_back(json(row));
  for (const auto& each : results.chosen)
    out["chosen"].push_back({{"data", each.data},
                             {"model", each.model},
                             {"label", each.label},
                             {"setting", each.setting},
                             {"by", each.by},
                             {"value", each.value},
                             {"among", each.among}});
  for (const auto& stage : results.stages)
    out["stages"].push_back({{"setting", stage.setting},
                             {"attack", stage.attack},
                             {"metric", stage.metric},
                             {"shadows", stage.shadows},
                             {"value", stage.value},
                             {"low", stage.low ? json(*stage.low) : json()},
                             {"high", stage.high ? json(*stage.high) : json()}});
  for (const auto& each : results.exposures) out["exposure"].push_back(exposure_json(each));
  for (const auto& verdict : results.verdicts) out["verdicts"].push_back(verdict_json(verdict));
  return out;
}

}  // namespace imprint
