// From argv to exit status: the steps that all programs share. A Work has the steps that differ between collectives,
// pairs, sweeps, copies and connections.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/core/error.h"
#include "common/core/ownership.h"
#include "common/engine/job.h"
#include "common/engine/pair_plan.h"
#include "common/mpi/communicator.h"
#include "common/record/context.h"
#include "common/record/row.h"
#include "common/report/sink.h"

namespace fabricbench {

/// An error of `measure` that every participating process has found and throws.
class AgreedError : public Error {
 public:
  using Error::Error;
};

/// The measurement of a program, on one process of the job. The engine calls `set_up`, `make_context` and `measure` in
/// this order, on the processes that take part.
class Work : public InterfaceBase {
 public:
  Work(Job& job, ActiveProcesses active) : job_(job), active_(std::move(active)) {}

  /// The communicator of the processes that take part; null on a process that does not.
  [[nodiscard]] const mpi::Communicator* active() const { return active_.among(job_.world); }
  /// Whether processes are at rest while others measure; the same on every process.
  [[nodiscard]] virtual bool has_rests() const { return active() != &job_.world; }

  /// Refuses everything that cannot be measured, and opens the outputs on the first process. Collective over the
  /// members; throws Error (usage, missing), the same on every one. `outputs` outlives this object.
  virtual void set_up(Outputs& outputs) = 0;
  /// The facts known before the first measurement; complete on the first process only. Collective.
  [[nodiscard]] virtual Context make_context() = 0;
  /// Measures, and passes the records to the outputs. Returns the ending on the first process. Collective. An error may
  /// be this process's alone, unless it is an AgreedError.
  [[nodiscard]] virtual Ending measure(const Context& context) = 0;

 protected:
  [[nodiscard]] Job& job() const { return job_; }
  [[nodiscard]] const mpi::Communicator& world() const { return *active(); }
  [[nodiscard]] const std::vector<std::string>& notices_of_active() const { return active_.notices; }

 private:
  Job& job_;
  ActiveProcesses active_;
};

/// Chooses the work of a job, and the processes that take part. Collective over the job; throws Error (usage, missing),
/// the same on every process.
using Agree = std::function<std::unique_ptr<Work>(Job&)>;

/// Runs a whole program: starts and ends MPI, and does not throw. Returns the exit status (ExitStatus).
[[nodiscard]] int run(const Program& program, const Agree& agree, const MakeJudges& make_judges, int argc, char** argv);

}  // namespace fabricbench
