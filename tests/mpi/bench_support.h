#pragma once

// Runs a Bench, and keeps what its sinks were told.

#include <memory>
#include <string>
#include <vector>

#include "common/measure/bench.h"
#include "harness_fakes.h"

namespace fabricbench {

/// Tests of runs by a scripted clock.
class BenchTest : public ScriptedJob {
 public:
  BenchTest() : ScriptedJob(kOperation) {}

 protected:
  static constexpr Seconds kOperation = 1e-3;  ///< what an all-reduce of MPI takes
};

/// Everything that a sink was told, in order.
struct Log {
  std::vector<EpochRecord> epochs;
  std::vector<Row> rows;
  std::vector<Bytes> sizes_of_all;  // of epochs and rows, in the order of the calls
  std::vector<bool> is_row;         // for each of these calls
};

class LogSink final : public Sink {
 public:
  explicit LogSink(Log& log) : log_(log) {}
  void begin(const Context&) override {}
  void record(const AnyRecord& record) override {
    if (const auto* epoch = record.as<EpochRecord>()) {
      log_.epochs.push_back(*epoch);
      note(epoch->size, false);
    }
    if (const auto* row = record.as<Row>()) {
      log_.rows.push_back(*row);
      note(row->size, true);
    }
  }
  void end(const Ending&) override {}

 private:
  void note(Bytes size, bool is_row) {
    log_.sizes_of_all.push_back(size);
    log_.is_row.push_back(is_row);
  }

  Log& log_;
};

struct Result {
  Log log;  // rank 0
  std::uint64_t wrong_checks = 0;
  std::vector<std::string> wrong_data;
  std::string precision;
  Seconds took = 0;
};

[[nodiscard]] inline std::vector<Case> cases_of(const std::vector<Bytes>& sizes) {
  std::vector<Case> cases;
  for (const Bytes size : sizes) {
    for (const bool in_place : {false, true}) {
      const std::uint64_t count = size / sizeof(float);
      cases.push_back({size, {count, count, count}, DataType::kFloat, Reduction::kSum, -1, in_place});
    }
  }
  return cases;
}

/// Measures `test` on the session's ranks.
[[nodiscard]] inline Result run(const Options& options, Session& session, const Test& test,
                                const std::vector<Case>& cases, Bytes pool_bytes = kPoolBytes) {
  Rig rig(options, session, now, true, pool_bytes);
  Result result;
  Outputs outputs;
  if (rig.world.is_root()) outputs.add(std::make_unique<LogSink>(result.log));
  const ProcessLocation location = locate_processes(rig.world);
  NicMeter nics(rig.team, location, "mpi");
  Totals totals(rig.options);
  Bench bench(rig.team, rig.options, test, session, rig.workspace, rig.meter, nics, rig.heartbeat,
              options.seed.value_or(1), outputs, &totals);
  const Seconds began = now();
  bench.measure_cases(cases);
  result.took = now() - began;
  result.wrong_checks = totals.wrong_checks();
  result.wrong_data = totals.wrong_data();
  result.precision = totals.precision_line();
  return result;
}

/// Nine short epochs of each size, and no more.
[[nodiscard]] inline Options quick(std::uint64_t seed = 1) {
  Options options;
  options.time_budget = 0.02;
  options.target_precision_percent = 1e9;
  options.seed = seed;
  return options;
}

}  // namespace fabricbench
