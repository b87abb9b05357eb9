// The command `fabricbench`: lists and starts the suite's programs, and works with their results.

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cluster/command/catalogue.h"
#include "cluster/command/command_options.h"
#include "cluster/command/commands.h"
#include "common/core/error.h"
#include "common/core/version.h"

namespace fabricbench::cluster {
namespace {

constexpr const char* kName = "fabricbench";

struct Command {
  std::string_view name;
  std::string_view purpose;
  ExitStatus (*run)(const std::vector<std::string>& arguments);
};

constexpr std::array kCommands = {
    Command{"list", "list all programs by the question that they answer", list_entries},
    Command{"run", "run one of them, as an MPI job where it takes one", run_program},
    Command{"doctor", "say what this host lacks for which programs", examine_host},
    Command{"table", "print the table of a run from its record", print_table},
    Command{"plot", "draw bandwidth and latency against message size", plot_files},
    Command{"compare", "compare runs with baselines or with other runs", compare_files},
    Command{"report", "draw a page of results, for a browser", report_files},
    Command{"accept", "", accept_hosts},
    Command{"check_node_pair", "", check_node_pair},  // in the catalogue, as the next ones
    Command{"preflight", "", preflight_hosts},
    Command{"record_baseline", "", record_baseline},
    Command{"sweep_pairs", "", sweep_pairs},
    Command{"sweep", "", sweep_pairs},
};

std::string help() {
  std::string text = fmt::format(
      "Starts fabricbench's programs, and works with their results.\n\n"
      "usage: {0} PROGRAM [OPTION]...    short for {0} run PROGRAM\n"
      "       {0} COMMAND ...\n\n"
      "  {0} all_reduce -b 8 -e 1G               here, or in a job of Slurm\n"
      "  {0} send_recv_bw --hosts node01,node02  on two hosts\n\n",
      kName);
  for (const Command& command : kCommands) {
    if (!command.purpose.empty()) text += fmt::format("  {:<10} {}\n", command.name, command.purpose);
  }
  return text + fmt::format("\n'{0} list' has the programs; --help behind a name explains it.\n", kName);
}

ExitStatus run_command(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return list_entries({});
  const std::string& first = arguments.front();
  const std::vector<std::string> others(arguments.begin() + 1, arguments.end());
  if (first == "help" && !others.empty()) return run_command({others.front(), "--help"});
  if (asks_for_help(first) || first == "help") {
    fmt::print("{}", help());
    return ExitStatus::kOk;
  }
  if (first == "--version") {
    fmt::print("{} {}\n", kName, kVersion);
    return ExitStatus::kOk;
  }
  const auto* const command =
      std::find_if(kCommands.begin(), kCommands.end(), [&](const Command& each) { return each.name == first; });
  if (command != kCommands.end()) return command->run(others);
  if (first.starts_with('-')) {
    throw UsageError(
        fmt::format("'{}' is no command{}; options come behind one, see --help", first, nearest_launch_options(first)));
  }
  const CatalogueEntry* entry = find_entry(first);
  if (entry == nullptr) {
    throw UsageError(fmt::format("there is no program or command '{}'{}; '{} list' has them all", first,
                                 names_meant_by(first), kName));
  }
  return run_entry(*entry, {}, others);
}

}  // namespace
}  // namespace fabricbench::cluster

int main(int argc, char** argv) {
  return fabricbench::cluster::run_tool(fabricbench::cluster::kName, [&] {
    return fabricbench::cluster::run_command(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
  });
}
