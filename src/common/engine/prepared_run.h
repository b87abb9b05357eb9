#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/core/ownership.h"
#include "common/engine/engine.h"
#include "common/engine/job.h"
#include "common/engine/setup.h"
#include "common/measure/bench.h"
#include "common/measure/test.h"
#include "common/mpi/common_clock.h"
#include "common/nic_counters/nic_meter.h"
#include "common/processors/processor_meter.h"
#include "common/record/context.h"
#include "common/record/field.h"
#include "common/record/row.h"
#include "common/report/sink.h"

namespace fabricbench {

/// The facts for the end of a run besides its rows, on the first process.
struct RunFacts {
  NicReport nics{};                    ///< what the NICs carried meanwhile
  ProcessorReport processors{};        ///< where the ranks ran meanwhile
  std::vector<std::string> remarks{};  ///< of sessions, a line each
  std::string memory_usage{};          ///< of the first process's session

  /// Adds those of a later round.
  void add(const RunFacts& later);
  void add_to(Ending& ending) const;
};

template <typename Visitor, record::Of<RunFacts> Message>
void describe(Visitor& visitor, Message& facts) {
  visitor.internal(facts.nics, facts.processors, facts.remarks, facts.memory_usage);
}

/// A test that is set up: its processes have met for the watchdog, and the common clock runs. All arguments must
/// outlive it.
class PreparedRun : NotCopied {
 public:
  /// Collective over the team of `setup`.
  PreparedRun(const Job& job, const Test& test, Setup& setup, Outputs& outputs);
  ~PreparedRun();

  /// The maximum over all processes.
  [[nodiscard]] Seconds clock_error() const { return clock_error_; }
  /// Makes the buffers, once the outputs have begun with `context`, and measures by `visit`, whose ending tells other
  /// processes why messages were given up. Where an operation fails, its process prints the error and ends the job.
  /// Collective.
  [[nodiscard]] RunFacts measure(const Context& context, const std::function<Ending(Run&)>& visit);

 private:
  [[noreturn]] void fail(const std::exception& error) const;
  [[noreturn]] void end_here(const Ending& ending) const;

  const Job& job_;
  const Test& test_;
  Setup& setup_;
  Outputs& outputs_;
  mpi::CommonClock clock_;
  Seconds clock_error_;
};

/// A test that is set up once, on all processes that take part.
class TestWork : public Work {
 public:
  /// `test` and `sessions` must outlive it.
  TestWork(Job& job, ActiveProcesses active, Test& test, const Sessions& sessions)
      : Work(job, std::move(active)), test_(test), sessions_(sessions) {}

  void set_up(Outputs& outputs) final;
  [[nodiscard]] Context make_context() override;
  [[nodiscard]] Ending measure(const Context& context) final;

 protected:
  [[nodiscard]] const Setup& setup() const { return setup_; }

 private:
  /// The part of `measure` that differs: it has everything set up, and returns the ending.
  [[nodiscard]] virtual Ending visit(Run& run) = 0;
  /// How often `visit` measures all cases, one time after the other.
  [[nodiscard]] virtual std::int64_t steps() const { return 1; }

  Test& test_;
  const Sessions& sessions_;
  Setup setup_;
  std::unique_ptr<PreparedRun> prepared_;
};

/// Chooses the ranks that take part in a test, and whether its pairs are measured at the same time or in rounds.
/// Collective over the job. Throws Error, the same on every process. `test` and `sessions` must outlive the result.
[[nodiscard]] std::unique_ptr<Work> agree_on_test(Job& job, Test& test, Sessions& sessions);

}  // namespace fabricbench
