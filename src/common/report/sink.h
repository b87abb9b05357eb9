#pragma once

#include "common/report/connect_row.h"
#include "common/report/context.h"
#include "common/report/copy_row.h"
#include "common/report/reading.h"
#include "common/report/row.h"
#include "common/report/sweep_plan.h"

namespace fabricbench {

/// Takes what a run reports, in this order: begin, then epochs and rows as they are known, then end.
/// Lives on rank 0. Every call leaves the output complete and flushed.
class Sink {
 public:
  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  virtual ~Sink() = default;

  virtual void begin(const Context& context) = 0;
  virtual void epoch(const EpochRecord& /*record*/) {}
  virtual void row(const Row& /*row*/) {}
  /// Of a sweep over pairs: readings as they are taken, then the endpoints and the rows of the matrix, in order.
  virtual void reading(const PairReading& /*reading*/) {}
  virtual void endpoint(const EndpointSummary& /*summary*/) {}
  virtual void matrix_row(const MatrixRow& /*row*/) {}
  /// Of one that plans its rounds: each before its readings, and after the last row what it all says.
  virtual void planned(const SweepRound& /*round*/) {}
  virtual void verdict(const SweepVerdict& /*verdict*/) {}
  /// Of any sweep, before it is abandoned because of them.
  virtual void silent(const SilentEndpoints& /*endpoints*/) {}
  /// Of copies within hosts, in the place of rows.
  virtual void copied(const CopyRow& /*row*/) {}
  /// Of connections, in the place of rows.
  virtual void connected(const ConnectRow& /*row*/) {}
  virtual void end(const Ending& ending) = 0;
  /// Instead of `end` where the run broke off. A sink whose last lines say that all went well says nothing.
  virtual void abandon(const Ending& /*ending*/) {}
};

}  // namespace fabricbench
