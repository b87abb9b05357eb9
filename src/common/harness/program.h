#pragma once

#include "common/harness/collective.h"
#include "common/options/program.h"

namespace fabricbench {

/// The whole of a collective's program, from the command line to the exit status (ExitStatus). Starts and
/// ends MPI; does not throw.
[[nodiscard]] int run_program(const Program& program, Collective&& collective, int argc, char** argv);

}  // namespace fabricbench
