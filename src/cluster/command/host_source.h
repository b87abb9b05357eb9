// The source of a program's hosts: its options, or the scheduler's environment.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "cluster/hosts/host_list.h"

namespace fabricbench::cluster {

/// The options as given.
struct HostOptions {
  std::optional<std::string> list{};      ///< -H
  std::optional<std::string> hostfile{};  ///< --hostfile; `-` is standard input
  std::string exclude{};                  ///< --exclude
  std::string list_option = "-H";         ///< the option by which the list was given, for messages
};

/// Adds -H, --hostfile and --exclude, which fill `options`, to a program's command line.
void add_host_options(CLI::App& app, HostOptions& options);

/// The scheduler's environment. The getter returns an environment variable, or null.
struct Surroundings {
  std::function<const char*(const char*)> variable;
  std::string mpi_job_hostfile = "/etc/mpi/hostfile";  ///< present in the launcher of a Kubernetes MPIJob
};
[[nodiscard]] Surroundings own_surroundings();

struct FoundHosts {
  HostList hosts;
  std::string source;  ///< for messages, such as `$SLURM_JOB_NODELIST`
  std::string notice;  ///< for stderr, such as unknown hosts of --exclude; may be empty
};

/// The hosts of -H and --hostfile together; without either, those of the first existing of $SLURM_JOB_NODELIST,
/// $PBS_NODEFILE, $LSB_DJOB_HOSTFILE, $LSB_MCPU_HOSTS and an MPIJob's host file. Hosts of --exclude are removed. Throws
/// UsageError if there is no source, a list cannot be read or no host is left, and Error with kMissing if a file is
/// missing.
[[nodiscard]] FoundHosts find_hosts(const HostOptions& options, const Surroundings& surroundings);

/// The same, or nothing if there is no source.
[[nodiscard]] std::optional<FoundHosts> find_hosts_if_any(const HostOptions& options, const Surroundings& surroundings);

}  // namespace fabricbench::cluster
