#include "cluster/command/host_source.h"

#include <cstdlib>
#include <filesystem>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/command/input_file.h"
#include "cluster/hosts/host_list.h"
#include "common/core/error.h"

namespace fabricbench::cluster {
namespace {

/// An environment variable in which a scheduler gives the hosts of a job, or a file of them.
struct Variable {
  const char* name;
  bool names_a_file;
  bool has_file_text;  ///< its text has the format of a host file instead of a list
};

constexpr Variable kVariables[] = {{"SLURM_JOB_NODELIST", false, false},
                                   {"PBS_NODEFILE", true, true},
                                   {"LSB_DJOB_HOSTFILE", true, true},
                                   {"LSB_MCPU_HOSTS", false, true}};

FoundHosts hosts_given(const HostOptions& options) {
  FoundHosts found;
  std::vector<std::string> sources;
  if (options.list) {
    found.hosts.add_list(*options.list, options.list_option);
    sources.push_back(options.list_option);
  }
  if (options.hostfile) {
    const std::string name = readable_name(*options.hostfile);
    found.hosts.add_file(text_of_file(*options.hostfile, "--hostfile"), name);
    sources.push_back(name);
  }
  found.source = fmt::format("{}", fmt::join(sources, " and "));
  return found;
}

FoundHosts hosts_of_scheduler(const Surroundings& surroundings) {
  FoundHosts found;
  for (const Variable& variable : kVariables) {
    const char* value = surroundings.variable(variable.name);
    if (value == nullptr || *value == '\0') continue;
    found.source = fmt::format("${}", variable.name);
    const std::string where = variable.names_a_file ? fmt::format("{} ({})", value, found.source) : found.source;
    const std::string text = variable.names_a_file ? text_of_file(value, found.source) : value;
    if (variable.has_file_text) {
      found.hosts.add_file(text, where);
    } else {
      found.hosts.add_list(text, where);
    }
    return found;
  }
  std::error_code problem;
  if (std::filesystem::exists(surroundings.mpi_job_hostfile, problem)) {
    found.source = surroundings.mpi_job_hostfile;
    found.hosts.add_file(text_of_file(found.source, "the MPIJob's host file"), found.source);
  }
  return found;
}

void take_out(FoundHosts& found, const std::string& exclude) {
  HostList excluded;
  excluded.add_list(exclude, "--exclude");
  const std::vector<std::string> unknown = found.hosts.exclude(excluded);
  if (!unknown.empty()) {
    found.notice = fmt::format("--exclude names hosts that {} does not have: {}", found.source, fold_hosts(unknown));
  }
  if (found.hosts.hosts().empty()) {
    throw UsageError(fmt::format("--exclude '{}' removes every host of {}; keep some", exclude, found.source));
  }
}

}  // namespace

void add_host_options(CLI::App& app, HostOptions& options) {
  app.add_option("-H,--host", options.list, "use these hosts: node[01-16,20], a,b,c or a:8,b:8")->option_text("LIST");
  // As `fabricbench run` has it.
  app.add_option_function<std::string>("--hosts",
                                       [&options](const std::string& list) {
                                         options.list = list;
                                         options.list_option = "--hosts";
                                       })
      ->group("");
  app.add_option(
         "--hostfile", options.hostfile,
         "read hosts from FILE, in the format of Open MPI, MPICH, Slurm, PBS, LSF or an MPIJob; - is standard input")
      ->option_text("FILE");
  app.add_option("--exclude", options.exclude, "leave these hosts out; same format as -H")->option_text("LIST");
}

Surroundings own_surroundings() {
  return {[](const char* name) -> const char* { return std::getenv(name); }};
}

FoundHosts find_hosts(const HostOptions& options, const Surroundings& surroundings) {
  if (auto found = find_hosts_if_any(options, surroundings)) return *std::move(found);
  throw UsageError(
      "no hosts: give -H node[01-16] or --hostfile FILE, or start this in a job of Slurm, PBS or LSF, or in the "
      "launcher of a Kubernetes MPIJob");
}

std::optional<FoundHosts> find_hosts_if_any(const HostOptions& options, const Surroundings& surroundings) {
  const bool given = options.list || options.hostfile;
  FoundHosts found = given ? hosts_given(options) : hosts_of_scheduler(surroundings);
  if (found.source.empty()) return std::nullopt;
  if (found.hosts.hosts().empty()) throw UsageError(fmt::format("{} names no host", found.source));
  if (!options.exclude.empty()) take_out(found, options.exclude);
  return found;
}

}  // namespace fabricbench::cluster
