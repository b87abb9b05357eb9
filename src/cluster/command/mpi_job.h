// One program as an MPI job: on this host, on hosts that are given, or in the surrounding job of a scheduler.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cluster/command/catalogue.h"
#include "cluster/launch/launcher.h"
#include "common/core/error.h"

namespace fabricbench::cluster {

/// What `fabricbench run` is told.
struct MpiJob {
  StartedAs start = StartedAs::kAllRanks;
  std::vector<std::string> program;       ///< its path and its arguments
  std::optional<std::string> hosts{};     ///< --hosts
  std::optional<std::string> hostfile{};  ///< --hostfile; without both, those of the surrounding job
  int ranks = 0;                          ///< -np; 0: as many as fit
  std::string launcher{};                 ///< --launcher; empty: srun in Slurm, else mpirun
  std::string mpi_options{};              ///< --mpi-options
  bool dry_run = false;                   ///< prints the command and runs nothing
};

/// Sets the options of a launch, as take_launch_options returns them. Throws UsageError with a wrong value.
void set_options(MpiJob& job, const std::vector<std::string>& options);

/// The command by which it is run. Throws Error.
[[nodiscard]] Command command_of(const MpiJob& job);

/// Runs it, and returns its status. Says on standard error what was chosen. Throws Error.
[[nodiscard]] ExitStatus run_mpi_job(const MpiJob& job);

}  // namespace fabricbench::cluster
