#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/core/connect_step.h"
#include "common/core/units.h"
#include "common/record/field.h"

namespace fabricbench {

/// What the connections of a pair took in one step.
struct ConnectTimes {
  ConnectStep step = ConnectStep::kResolveAddress;
  std::int64_t samples = 0;  ///< 0: the step was never completed, or is not there
  std::optional<Seconds> min;
  std::optional<Seconds> median;
  std::optional<Seconds> p99;  ///< only with enough samples
  std::optional<Seconds> max;
};

/// What `times` say, which may be none.
[[nodiscard]] ConnectTimes summarize(ConnectStep step, std::span<const Seconds> times);

/// The connections of one pair. Data only; sinks give it form.
struct ConnectRow {
  int pair = 0;
  std::vector<ConnectTimes> steps;  ///< every ConnectStep, in order
  std::int64_t connections = 0;     ///< made, used and ended
  std::int64_t failed = 0;          ///< the last one, or none
  double rate = 0;                  ///< connections per second
  std::uint64_t messages = 0;       ///< to come on these connections, in both directions
  std::uint64_t lost = 0;           ///< did not come, of datagrams
  std::uint64_t wrong = 0;          ///< came with other bytes
  std::string first_wrong;          ///< which, and where
  int status = 0;                   ///< exit status of what ended the pair early; 0: nothing did
  std::string problem;              ///< what that was
};

/// One step of a pair's connections, as files have it.
struct ConnectionStep {
  ConnectRow row;
  ConnectTimes times;
};

template <typename Form, record::Of<ConnectTimes> Record>
void describe(Form& form, Record& times) {
  form.hidden(times.step, times.samples, times.min, times.median, times.p99, times.max);
}

template <typename Form, record::Of<ConnectRow> Record>
void describe(Form& form, Record& row) {
  form.hidden(row.pair, row.steps, row.connections, row.failed, row.rate, row.messages, row.lost, row.wrong,
              row.first_wrong, row.status, row.problem);
}

template <typename Form, record::Of<ConnectionStep> Record>
void describe(Form& form, Record& step) {
  using namespace record;
  auto& row = step.row;
  auto& times = step.times;
  form.line("connection_step", "Of connections, in the place of rows: one for each pair and step");
  form("pair", natural(row.pair), "its number");
  form("step", times.step, "what the side that connects waited for");
  form("samples", natural(times.samples), "how many times were taken, by the first rank");
  form("time_us_min", us(times.min), "null where there is no sample, as with the following times");
  form("time_us_median", us(times.median), "");
  form("time_us_p99", us(times.p99), "null with fewer than 299 samples");
  form("time_us_max", us(times.max), "");
  form("connections", natural(row.connections), "of the pair, as with all that follows: made, used and ended");
  form("failed_connections", natural(row.failed), "the one that ended the pair, if any did");
  form("connections_per_s", row.rate, "over all the time that the pair took");
  form("messages", natural(row.messages), "to come on these connections, in both directions");
  form("lost_messages", natural(row.lost), "datagrams that did not come");
  form("wrong_messages", natural(row.wrong), "that came with other bytes");
  form("problem", null_if_none(row.problem), "what ended the pair early");
}

}  // namespace fabricbench
