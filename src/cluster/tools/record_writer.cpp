#include "cluster/tools/record_writer.h"

#include <cstddef>
#include <string_view>

#include "common/record/json.h"
#include "common/record/reading.h"

namespace fabricbench::cluster {
namespace {

ReadingStatus status_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kMeasured: return ReadingStatus::kOk;
    case Outcome::kFailed: return ReadingStatus::kFailed;
    case Outcome::kWrong: return ReadingStatus::kWrong;
    case Outcome::kNotTried: break;
  }
  return ReadingStatus::kNotTried;
}

template <typename Record>
std::string json_line_of(const Record& record) {
  return record::json_line(record::to_json(record));
}

}  // namespace

std::string records_of(const Sweep& sweep, std::int64_t size_bytes) {
  std::string text = json_line_of(SweepStart{sweep.hosts, ""});
  for (std::size_t host = 0; host < sweep.leaf_of.size(); ++host) {
    if (sweep.leaf_of[host] == Sweep::kNoLeaf) continue;
    text += json_line_of(HostLocality{sweep.hosts[host], sweep.leaves[static_cast<std::size_t>(sweep.leaf_of[host])]});
  }
  const auto name = [](const std::vector<std::string>& names, std::int32_t place) -> std::string_view {
    return names[static_cast<std::size_t>(place)];
  };
  auto reason = sweep.reasons.begin();
  for (std::size_t i = 0; i < sweep.readings.size(); ++i) {
    const Reading& reading = sweep.readings[i];
    const std::string_view kind = name(sweep.kinds, reading.kind);
    RecordedReading record;
    record.from_end.host = name(sweep.hosts, reading.from);
    record.to_end.host = name(sweep.hosts, reading.to);
    record.from_end.rail = name(sweep.rails, reading.from_rail);
    record.to_end.rail = name(sweep.rails, reading.to_rail);
    record.test = kind.substr(0, kind.find(' '));  // a kind consists of the test's name and the size
    record.size = size_bytes;
    record.status = status_of(reading.outcome);
    record.both_ways = reading.both_ways;
    if (reading.outcome == Outcome::kMeasured) record.bandwidth = static_cast<double>(reading.rate);
    record.round = reading.round;
    record.concurrent = reading.concurrent;
    if (reason != sweep.reasons.end() && reason->first == i) record.reason = (reason++)->second;
    text += json_line_of(record);
  }
  return text;
}

}  // namespace fabricbench::cluster
