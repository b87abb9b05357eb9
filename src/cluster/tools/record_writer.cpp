#include "cluster/tools/record_writer.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace fabricbench::cluster {
namespace {

/// A name with quotation marks, or null where there is none. What is no UTF-8 is replaced.
std::string json_text(std::string_view name) {
  if (name.empty()) return "null";
  return nlohmann::json(name).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string number_or_null(const std::optional<std::int64_t>& number) {
  return number ? fmt::to_string(*number) : "null";
}

const char* status_of(RecordStatus status) {
  switch (status) {
    case RecordStatus::kOk: return "ok";
    case RecordStatus::kSlow: return "slow";
    case RecordStatus::kFailed: return "failed";
    case RecordStatus::kNotTried: break;
  }
  return "not_tried";
}

RecordStatus status_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kMeasured: return RecordStatus::kOk;
    case Outcome::kFailed: return RecordStatus::kFailed;
    case Outcome::kNotTried: break;
  }
  return RecordStatus::kNotTried;
}

}  // namespace

std::string reading_line(const Record& record) {
  const auto& rate = record.bandwidth_gb_per_s;
  std::string gpus;
  if (!record.from_end.gpu.empty() || !record.to_end.gpu.empty()) {
    gpus = fmt::format("\"from_gpu\":{},\"to_gpu\":{},", json_text(record.from_end.gpu), json_text(record.to_end.gpu));
  }
  return fmt::format(
      "{{\"kind\":\"reading\",\"round\":{},\"concurrent\":{},\"from_host\":{},\"to_host\":{},"
      "\"from_rail\":{},\"to_rail\":{},{}\"test\":{},\"size_bytes\":{},\"status\":\"{}\",\"both_ways\":{},"
      "\"bandwidth_gb_per_s\":{},\"latency_us\":null,\"reason\":{},\"log\":null}}",
      number_or_null(record.round), number_or_null(record.concurrent), json_text(record.from_host),
      json_text(record.to_host), json_text(record.from_rail.value_or("")), json_text(record.to_rail.value_or("")), gpus,
      json_text(record.test), number_or_null(record.size_bytes),
      status_of(record.status.value_or(RecordStatus::kFailed)), record.both_ways,
      rate ? fmt::format("{:.6g}", *rate) : "null", json_text(record.reason));
}

std::string sweep_line(const std::vector<std::string>& hosts) {
  std::vector<std::string> names;
  std::transform(hosts.begin(), hosts.end(), std::back_inserter(names), json_text);
  return fmt::format("{{\"kind\":\"sweep\",\"hosts\":[{}]}}", fmt::join(names, ","));
}

std::string records_of(const Sweep& sweep, std::int64_t size_bytes) {
  std::string text = sweep_line(sweep.hosts) + "\n";
  for (std::size_t host = 0; host < sweep.leaf_of.size(); ++host) {
    if (sweep.leaf_of[host] == Sweep::kNoLeaf) continue;
    fmt::format_to(std::back_inserter(text), "{{\"kind\":\"locality\",\"host\":{},\"leaf\":{}}}\n",
                   json_text(sweep.hosts[host]),
                   json_text(sweep.leaves[static_cast<std::size_t>(sweep.leaf_of[host])]));
  }
  const auto name = [](const std::vector<std::string>& names, std::int32_t place) -> std::string_view {
    return names[static_cast<std::size_t>(place)];
  };
  auto reason = sweep.reasons.begin();
  for (std::size_t i = 0; i < sweep.readings.size(); ++i) {
    const Reading& reading = sweep.readings[i];
    const std::string_view kind = name(sweep.kinds, reading.kind);
    Record record;
    record.from_host = name(sweep.hosts, reading.from);
    record.to_host = name(sweep.hosts, reading.to);
    record.from_rail = name(sweep.rails, reading.from_rail);
    record.to_rail = name(sweep.rails, reading.to_rail);
    record.test = kind.substr(0, kind.find(' '));  // a kind is a test's name and the size
    record.size_bytes = size_bytes;
    record.status = status_of(reading.outcome);
    record.both_ways = reading.both_ways;
    if (reading.outcome == Outcome::kMeasured) record.bandwidth_gb_per_s = static_cast<double>(reading.rate) / 1e9;
    record.round = reading.round;
    record.concurrent = reading.concurrent;
    if (reason != sweep.reasons.end() && reason->first == i) record.reason = (reason++)->second;
    text += reading_line(record) + "\n";
  }
  return text;
}

}  // namespace fabricbench::cluster
