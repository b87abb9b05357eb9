#pragma once

#include "common/options/program.h"

namespace fabricbench::sweep {

/// Runs a program that measures pair after pair: from the command line to the exit status (ExitStatus). Starts and ends
/// MPI; does not throw.
[[nodiscard]] int run_sweep(const Program& program, int argc, char** argv);

}  // namespace fabricbench::sweep
