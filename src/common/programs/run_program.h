// What a program hands to the engine, which knows neither GPUs nor baselines.
#pragma once

#include "common/engine/job.h"
#include "common/measure/message_test.h"
#include "common/measure/test.h"
#include "common/options/program.h"
#include "common/programs/library_sessions.h"

namespace fabricbench {

/// Runs a program that measures one test, on all ranks or on pairs: from the command line to the exit status
/// (ExitStatus). Starts and ends MPI; does not throw.
[[nodiscard]] int run_program(const Program& program, Test&& test, Sessions&& sessions, int argc, char** argv);

/// The same with NCCL or MPI.
[[nodiscard]] int run_program(const Program& program, Test&& test, int argc, char** argv);

/// The comparison with baselines, and with what links allow, as the options ask for.
[[nodiscard]] std::vector<std::unique_ptr<Sink>> make_judges(RowKind row_kind, const Options& options);

}  // namespace fabricbench
