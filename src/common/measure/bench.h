#pragma once

#include <vector>

#include "common/core/options.h"
#include "common/core/session.h"
#include "common/measure/operation.h"
#include "common/measure/test.h"
#include "common/measure/totals.h"
#include "common/measure/workspace.h"
#include "common/mpi/common_clock.h"
#include "common/nic_counters/nic_meter.h"
#include "common/processors/processor_meter.h"
#include "common/ranks/team.h"
#include "common/record/context.h"
#include "common/record/row.h"
#include "common/report/sink.h"
#include "common/watch/watchdog.h"

namespace fabricbench {

/// The cases of one datatype, reduction and root. Consecutive ones form rows: one case, or an out-of-place and an
/// in-place one. Every group has the same number of cases.
struct CaseList {
  std::vector<Case> cases;
  std::vector<Row> skipped{};  ///< sizes that leave no element for some group, with the reason
};

/// A run that is ready to measure: everything is set up, and the outputs have begun. It owns nothing.
struct Run {
  const Team& team;
  const Options& options;
  const Test& test;
  Session& session;
  const std::vector<CaseList>& cases;
  Outputs& outputs;
  const Context& context;
  Heartbeat& heartbeat;
  mpi::CommonClock& clock;
  Workspace& workspace;
  NicMeter& nics;
  ProcessorMeter& processors;
  bool has_abandoned = false;  ///< set if messages were given up; the same on every process

  /// The processes that take part.
  [[nodiscard]] const mpi::Communicator& world() const { return team.world(); }
};

/// Measures the cases of a run: estimates their times, visits them epoch by epoch, checks every result, and passes the
/// rows to the outputs, and to `totals` unless it is null. All processes run the same code. The first process of each
/// group keeps its samples, and all processes decide together on the next step.
///
/// An epoch visits every case in random order, and starts again until it has lasted long enough: the speed of machines
/// drifts over tenths of a second, so epochs in quick succession would agree with each other and still be wrong.
void measure_rows(Run& run, Totals* totals);

}  // namespace fabricbench
