// From argv to exit status: what every program does, step by step. What differs between collectives, pairs, sweeps,
// copies and connections is a Work.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/core/error.h"
#include "common/engine/job.h"
#include "common/engine/pair_plan.h"
#include "common/mpi/communicator.h"
#include "common/record/context.h"
#include "common/record/row.h"
#include "common/report/sink.h"

namespace fabricbench {

/// An error of `measure` that every process that takes part has found and throws.
class AgreedError : public Error {
 public:
  using Error::Error;
};

/// What a program measures, on a process of the job. The engine calls `set_up`, `describe` and `measure` one after the
/// other, on the processes that take part.
class Work {
 public:
  Work(Job& job, Members members) : job_(job), members_(std::move(members)) {}
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  virtual ~Work() = default;

  /// The processes that take part; null on one that does not.
  [[nodiscard]] const mpi::Communicator* members() const { return members_.among(job_.world); }

  /// Settles everything that can be refused, and opens the outputs, on the first process. Collective over the members;
  /// throws Error (usage, missing), the same on every one. `outputs` live longer than this.
  virtual void set_up(Outputs& outputs) = 0;
  /// What is known before anything is measured; whole on the first process. Collective.
  [[nodiscard]] virtual Context describe() = 0;
  /// Hands what is measured to the outputs. Returns how that ended, on the first process. Collective. What it throws
  /// may be one process's alone, unless it is an AgreedError.
  [[nodiscard]] virtual Ending measure(const Context& context) = 0;

 protected:
  [[nodiscard]] Job& job() const { return job_; }
  [[nodiscard]] const mpi::Communicator& world() const { return *members(); }
  [[nodiscard]] const std::vector<std::string>& notices_of_members() const { return members_.notices; }

 private:
  Job& job_;
  Members members_;
};

/// Chooses the work of a job and the processes that take part. Collective over the job; throws Error (usage, missing),
/// the same on every process.
using Agree = std::function<std::unique_ptr<Work>(Job&)>;

/// The whole of a program: starts and ends MPI, and does not throw. Returns the exit status (ExitStatus).
[[nodiscard]] int run(const Program& program, const Agree& agree, int argc, char** argv);

}  // namespace fabricbench
