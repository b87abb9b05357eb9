// Prints the hosts of a list, a host file or the surrounding job: one per line, or folded.

#include <cstdio>
#include <string>

#include <fmt/format.h>

#include "cluster/command/command_options.h"
#include "cluster/command/host_source.h"
#include "cluster/hosts/host_list.h"

namespace fabricbench::cluster {
namespace {

constexpr const char* kName = "list_hosts";

ExitStatus list_hosts(int argc, char** argv) {
  HostOptions options;
  bool fold = false;
  bool slots = false;
  CLI::App app(
      "Prints the hosts of a list, a host file or the surrounding job, one per line.\n"
      "  list_hosts -H node[01-16] --exclude node07\n"
      "      fifteen hosts\n"
      "  list_hosts --hostfile hosts.txt --fold\n"
      "      one line, such as node[01-16,20]\n"
      "  list_hosts --slots\n"
      "      the hosts of the job of Slurm, PBS, LSF or Kubernetes, with their slots\n"
      "Without -H and --hostfile, it uses the first existing of $SLURM_JOB_NODELIST, $PBS_NODEFILE, "
      "$LSB_DJOB_HOSTFILE, "
      "$LSB_MCPU_HOSTS and /etc/mpi/hostfile, and names it on stderr.\n"
      "Exit status: 0 success, 2 no hosts or a wrong list, 3 a file is missing.",
      kName);
  add_host_options(app, options);
  CLI::Option* folded = app.add_flag("--fold", fold, "print one line: node[01-16,20]");
  app.add_flag("--slots", slots, "add known slots: node01 slots=8")->excludes(folded);
  if (!read_command_line(app, argc, argv)) return ExitStatus::kOk;

  const FoundHosts found = find_hosts(options, own_surroundings());
  if (!options.list && !options.hostfile) fmt::print(stderr, "{}: hosts of {}\n", kName, found.source);
  if (!found.notice.empty()) fmt::print(stderr, "{}: {}\n", kName, found.notice);
  if (fold) {
    fmt::print("{}\n", fold_hosts(found.hosts.names()));
    return ExitStatus::kOk;
  }
  std::string text;
  for (const Host& host : found.hosts.hosts()) {
    text += host.name;
    if (slots && host.slots) text += fmt::format(" slots={}", *host.slots);
    text += '\n';
  }
  fmt::print("{}", text);
  return ExitStatus::kOk;
}

}  // namespace
}  // namespace fabricbench::cluster

int main(int argc, char** argv) {
  return fabricbench::cluster::run_tool(fabricbench::cluster::kName,
                                        [&] { return fabricbench::cluster::list_hosts(argc, argv); });
}
