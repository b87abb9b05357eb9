// The source of a program's hosts: its options, or the scheduler that started it.
#pragma once

#include <functional>
#include <string>

#include <CLI/CLI.hpp>

#include "cluster/hosts/host_list.h"

namespace fabricbench::cluster {

/// The options as given; empty: not given.
struct HostOptions {
  std::string list;      ///< -H
  std::string hostfile;  ///< --hostfile; `-` is standard input
  std::string exclude;   ///< --exclude
};

/// Adds -H, --hostfile and --exclude, which fill `options`, to a program's command line.
void add_host_options(CLI::App& app, HostOptions& options);

/// The environment of a job. The getter returns a variable, or null.
struct Surroundings {
  std::function<const char*(const char*)> variable;
  std::string mpi_job_hostfile = "/etc/mpi/hostfile";  ///< of a Kubernetes MPIJob's launcher
};
[[nodiscard]] Surroundings own_surroundings();

struct FoundHosts {
  HostList hosts;
  std::string source;  ///< for people: such as `$SLURM_JOB_NODELIST`
  std::string notice;  ///< a warning for stderr, such as hosts to exclude that are not there; may be empty
};

/// The hosts of -H and --hostfile together; without either, those of the first that is there of $SLURM_JOB_NODELIST,
/// $PBS_NODEFILE, $LSB_DJOB_HOSTFILE, $LSB_MCPU_HOSTS and an MPIJob's host file; less those of --exclude. Throws
/// UsageError where there is nothing of all that, a list cannot be read or no host is left, and Error with kMissing
/// where a file is not there.
[[nodiscard]] FoundHosts find_hosts(const HostOptions& options, const Surroundings& surroundings);

}  // namespace fabricbench::cluster
