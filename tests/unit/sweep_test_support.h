#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "common/core/statistics.h"
#include "common/report/sink.h"
#include "report_test_support.h"

namespace fabricbench::test {

/// Of so many hosts, with `local` ranks each.
inline Context sweep_context(int hosts, int local = 1) {
  Context context = example_context();
  context.program = "pairwise_bw";
  context.row_kind = RowKind::kSweep;
  context.options.sizes = {1048576, 1048576, 1048576, 1};
  context.options.time_budget = 0.2;
  context.hosts = hosts;
  context.rounds = std::int64_t{hosts} * local - 1;
  context.ranks.clear();
  for (int rank = 0; rank < hosts * local; ++rank) {
    const std::string host = fmt::format("node-{:02}", rank / local);
    context.ranks.push_back({rank, rank % local, 100 + rank, host, "some processor", "0-7", 0, rank, {}});
  }
  return context;
}

inline PairReading reading_of(int from, int to, double gb_per_s) {
  PairReading reading;
  reading.round = 3;
  reading.concurrent = 4;
  reading.from = from;
  reading.to = to;
  reading.size = 1048576;
  reading.bandwidth = gb_per_s * 1e9;
  reading.least_bandwidth = 0.9 * reading.bandwidth;
  reading.most_bandwidth = 1.1 * reading.bandwidth;
  reading.windows = 9;
  reading.messages = 64;
  reading.latency = 2e-6;
  reading.wrong = 0;
  return reading;
}

inline PairReading failed_reading(int from, int to, ReadingStatus status, const std::string& reason) {
  PairReading reading = reading_of(from, to, 0);
  reading.status = status;
  reading.reason = reason;
  reading.windows = 0;
  reading.messages = 0;
  reading.latency.reset();
  return reading;
}

/// From every endpoint to every other one: 12 GB/s and a little, but 6 to endpoint 5, and 2.25 from endpoint 6 to 2.
inline std::vector<PairReading> readings_with_trouble(int endpoints) {
  std::vector<PairReading> readings;
  for (int from = 0; from < endpoints; ++from) {
    for (int to = 0; to < endpoints; ++to) {
      if (from == to) continue;
      double gb_per_s = 12 + 0.01 * ((3 * from + 5 * to) % 7);
      if (to == 5) gb_per_s /= 2;
      if (from == 6 && to == 2) gb_per_s = 2.25;
      readings.push_back(reading_of(from, to, gb_per_s));
      readings.back().round = (from + to) % (endpoints - 1);
    }
  }
  return readings;
}

inline void add(EndpointSummary::Direction& direction, std::vector<double>& values, double value, int partner) {
  if (values.empty() || value < direction.least) {
    direction.least = value;
    direction.least_partner = partner;
  }
  values.push_back(value);
  direction.median = median(values);
  ++direction.readings;
}

/// What readings come to, by endpoint.
inline std::vector<EndpointSummary> summaries_of(std::size_t endpoints, const std::vector<PairReading>& readings) {
  std::vector<EndpointSummary> summaries(endpoints);
  std::vector<std::vector<double>> sent(endpoints);
  std::vector<std::vector<double>> received(endpoints);
  for (std::size_t endpoint = 0; endpoint < endpoints; ++endpoint) {
    summaries[endpoint].endpoint = static_cast<int>(endpoint);
  }
  for (const PairReading& reading : readings) {
    const auto from = static_cast<std::size_t>(reading.from);
    const auto to = static_cast<std::size_t>(reading.to);
    if (reading.status != ReadingStatus::kOk) {
      ++summaries[from].failed;
      ++summaries[to].failed;
      continue;
    }
    add(summaries[from].sent, sent[from], reading.bandwidth, reading.to);
    add(summaries[to].received, received[to], reading.bandwidth, reading.from);
    summaries[from].latency = summaries[to].latency = reading.latency;
  }
  return summaries;
}

inline std::vector<MatrixRow> matrix_of(std::size_t endpoints, const std::vector<PairReading>& readings) {
  std::vector<MatrixRow> rows;
  for (std::size_t endpoint = 0; endpoint < endpoints; ++endpoint) {
    rows.push_back({static_cast<int>(endpoint), std::vector<float>(endpoints, std::nanf(""))});
  }
  for (const PairReading& reading : readings) {
    rows[static_cast<std::size_t>(reading.to)].bandwidths[static_cast<std::size_t>(reading.from)] =
        static_cast<float>(reading.status == ReadingStatus::kOk ? reading.bandwidth : 0);
  }
  return rows;
}

/// All that a sweep reports, but its end.
inline void report(Sink& sink, const Context& context, const std::vector<PairReading>& readings) {
  sink.begin(context);
  for (const PairReading& reading : readings) sink.record(reading);
  for (const EndpointSummary& summary : summaries_of(context.ranks.size(), readings)) sink.record(summary);
  for (const MatrixRow& row : matrix_of(context.ranks.size(), readings)) sink.record(row);
}

}  // namespace fabricbench::test
