#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/core/rdma_options.h"
#include "common/core/statistics.h"
#include "common/core/units.h"
#include "common/record/field.h"

namespace fabricbench {

/// The times of a pair's connections in one step.
struct ConnectTimes {
  ConnectStep step = ConnectStep::kResolveAddress;
  std::int64_t samples = 0;  ///< 0: the step was never completed, or does not exist
  std::optional<Seconds> min;
  std::optional<Seconds> median;
  std::optional<Seconds> p99;  ///< only if there are enough samples
  std::optional<Seconds> max;
  std::optional<double> rate;  ///< connections per second, over the time in which any took this step
};

/// The statistics of `times`, which may be empty. `took`: the time in which any connection took this step.
[[nodiscard]] inline ConnectTimes summarize(ConnectStep step, std::span<const Seconds> times, Seconds took) {
  constexpr double kTail = 0.99;
  ConnectTimes result;
  result.step = step;
  result.samples = static_cast<std::int64_t>(times.size());
  if (times.empty()) return result;
  std::vector<Seconds> sorted(times.begin(), times.end());
  std::sort(sorted.begin(), sorted.end());
  result.min = sorted.front();
  result.median = median(sorted);
  if (result.samples >= samples_needed(kTail)) result.p99 = quantile(sorted, kTail);
  result.max = sorted.back();
  if (took > 0) result.rate = static_cast<double>(result.samples) / took;
  return result;
}

/// The connections of one pair. Data only; sinks format it.
struct ConnectRow {
  int pair = 0;
  std::vector<ConnectTimes> steps;  ///< every ConnectStep, in order
  std::int64_t connections = 0;     ///< established, used and closed
  std::int64_t failed = 0;          ///< of those that were made last
  double rate = 0;                  ///< connections per second
  std::uint64_t messages = 0;       ///< messages expected on these connections, in both directions
  std::uint64_t lost = 0;           ///< messages that did not arrive; datagrams only
  std::uint64_t wrong = 0;          ///< messages that arrived with other bytes
  std::string first_wrong;          ///< the first of these, and where it differs
  int status = 0;                   ///< exit status of the error that ended the pair early; 0: none
  std::string problem;              ///< the message of that error
};

/// One step of a pair's connections, as written to files.
struct ConnectionStep {
  ConnectRow row;
  ConnectTimes times;
};

template <typename Visitor, record::Of<ConnectTimes> Record>
void describe(Visitor& visitor, Record& times) {
  visitor.internal(times.step, times.samples, times.min, times.median, times.p99, times.max, times.rate);
}

template <typename Visitor, record::Of<ConnectRow> Record>
void describe(Visitor& visitor, Record& row) {
  visitor.internal(row.pair, row.steps, row.connections, row.failed, row.rate, row.messages, row.lost, row.wrong,
                   row.first_wrong, row.status, row.problem);
}

template <typename Visitor, record::Of<ConnectionStep> Record>
void describe(Visitor& visitor, Record& step) {
  using namespace record;
  auto& row = step.row;
  auto& times = step.times;
  visitor.line("connection_step", "Instead of rows, for connections: one line per pair and step");
  visitor("pair", natural(row.pair), "number of the pair");
  visitor("step", times.step, "the step of the connecting side that was timed");
  visitor("samples", natural(times.samples), "number of times, taken by the first rank");
  visitor("time_us_min", us(times.min), "null without samples, as are the following times");
  visitor("time_us_median", us(times.median), "median of these times");
  visitor("time_us_p99", us(times.p99), "null with fewer than 299 samples");
  visitor("time_us_max", us(times.max), "longest of these times");
  visitor("step_rate_per_s", times.rate,
          "connections per second through this step, over the time in which any took it");
  visitor("connections", natural(row.connections),
          "connections established, used and closed; this and the following keys are about the whole pair");
  visitor("failed_connections", natural(row.failed),
          "connections that failed in the step that ended the pair; 0: it was not ended");
  visitor("connections_per_s", row.rate, "over the pair's whole time");
  visitor("messages", natural(row.messages), "messages expected on these connections, in both directions");
  visitor("lost_messages", natural(row.lost), "datagrams that did not arrive");
  visitor("wrong_messages", natural(row.wrong), "messages that arrived with other bytes");
  visitor("problem", null_if_none(row.problem), "the error that ended the pair early; null: none");
}

}  // namespace fabricbench
