#include "framework/runs/history.h"

#include <cmath>
#include <sstream>

namespace imprint {

nlohmann::json to_json(const EpochRow& row) {
  nlohmann::json json{{"epoch", row.epoch}, {"loss", row.loss}, {"lr", row.lr}};
  if (row.train_accuracy) json["train_accuracy"] = *row.train_accuracy;
  if (row.test_accuracy) json["test_accuracy"] = *row.test_accuracy;
  return json;
}

EpochRow epoch_row_from(const nlohmann::json& json) {
  EpochRow row;
  row.epoch = json.at("epoch");
  // A loss that overflowed is null in JSON.
  row.loss = json.at("loss").is_number() ? json.at("loss").get<double>() : std::nan("");
  row.lr = json.at("lr");
  if (json.contains("train_accuracy")) row.train_accuracy = json["train_accuracy"].get<double>();
  if (json.contains("test_accuracy")) row.test_accuracy = json["test_accuracy"].get<double>();
  return row;
}

std::string history_text(const std::vector<EpochRow>& rows) {
  std::string text;
  for (const auto& row : rows) text += to_json(row).dump() + "\n";
  return text;
}

std::vector<EpochRow> history_from(const std::string& text) {
  std::vector<EpochRow> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    rows.push_back(epoch_row_from(nlohmann::json::parse(line)));
  return rows;
}

nlohmann::json to_json(const std::vector<Metric>& metrics) {
  auto list = nlohmann::json::array();
  for (const auto& metric : metrics) {
    nlohmann::json json{{"name", metric.name}, {"value", metric.value}};
    if (metric.low) json["low"] = *metric.low;
    if (metric.high) json["high"] = *metric.high;
    if (metric.n) json["n"] = *metric.n;
    if (metric.epoch) json["epoch"] = *metric.epoch;
    list.push_back(json);
  }
  return list;
}

std::vector<Metric> metrics_from(const nlohmann::json& json) {
  const auto maybe = [](const nlohmann::json& from, const char* key) -> std::optional<double> {
    return from.contains(key) && from[key].is_number() ? std::optional(from[key].get<double>())
                                                       : std::nullopt;
  };
  std::vector<Metric> metrics;
  for (const auto& each : json) {
    Metric metric;
    metric.name = each.at("name");
    // JSON has no NaN: a metric that is none comes back as null.
    metric.value = maybe(each, "value").value_or(std::nan(""));
    metric.low = maybe(each, "low");
    metric.high = maybe(each, "high");
    if (each.contains("n")) metric.n = each["n"].get<int64_t>();
    if (each.contains("epoch")) metric.epoch = each["epoch"].get<int64_t>();
    metrics.push_back(metric);
  }
  return metrics;
}

}  // namespace imprint
