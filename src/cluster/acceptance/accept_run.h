// An acceptance run: starts its jobs, judges what they leave, and writes the verdict.
#pragma once

#include <filesystem>

#include "cluster/acceptance/accept_options.h"
#include "cluster/acceptance/job_commands.h"
#include "cluster/acceptance/run_folder.h"
#include "cluster/launch/children.h"

namespace fabricbench::acceptance {

/// What a run works with.
struct AcceptWork {
  const AcceptOptions& options;
  const cluster::CalledAs& called;
  const JobCommands& commands;
  RunFolder& folder;
  std::filesystem::path scratch;
  bool is_new;  ///< nothing was measured before this call
  cluster::Clock::time_point began;
};

/// Measures what is to be measured, until nothing is left or a signal comes, and writes the verdict, which is printed
/// in the form that `nagios` asks for. Returns the exit status. `told`: set once that is printed.
[[nodiscard]] int run_acceptance(const AcceptWork& work, bool nagios, bool& told);

}  // namespace fabricbench::acceptance
