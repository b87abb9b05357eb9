#include "common/report/reading_csv.h"

#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "common/report/csv_fields.h"

namespace fabricbench {
std::string reading_csv_header() {
  return "round,concurrent,from,to,from_rank,to_rank,from_host,to_host,size_bytes,status,bandwidth_gb_per_s,"
         "bandwidth_gb_per_s_min,bandwidth_gb_per_s_max,windows,messages_per_window,latency_us,wrong_elements,reason\n";
}

std::string reading_csv_line(const PairReading& reading, const SweepFacts& facts) {
  const SweepFacts::Place& from = facts.endpoints[static_cast<std::size_t>(reading.from)];
  const SweepFacts::Place& to = facts.endpoints[static_cast<std::size_t>(reading.to)];
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", reading.round, reading.concurrent,
                     reading.from, reading.to, from.rank, to.rank, csv_field(from.host), csv_field(to.host),
                     reading.size, name(reading.status), csv_gb_per_s(reading.bandwidth),
                     csv_gb_per_s(reading.least_bandwidth), csv_gb_per_s(reading.most_bandwidth), reading.windows,
                     reading.messages, csv_us(reading.latency), csv_count(wrong_elements(reading, facts)),
                     csv_field(reading.reason));
}

}  // namespace fabricbench
