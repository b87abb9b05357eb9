#pragma once

#include "common/report/context.h"
#include "common/report/row.h"

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
  virtual void row(const Row& row) = 0;
  virtual void end(const Ending& ending) = 0;
  /// Instead of `end` where the run broke off. A sink whose last lines say that all went well says nothing.
  virtual void abandon(const Ending& /*ending*/) {}
};

}  // namespace fabricbench
