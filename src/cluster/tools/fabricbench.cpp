// The command `fabricbench`, for everything that needs no MPI job.

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cluster/tools/commands.h"
#include "cluster/tools/tool.h"
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
    Command{"compare", "compare runs with baselines or with other runs", compare_files},
    Command{"table", "print the table of a run from its record", print_table},
    Command{"report", "draw a page of results, for a browser", report_files},
};

std::string help() {
  std::string text =
      fmt::format("Works with the results of fabricbench's programs.\n\nusage: {} COMMAND ...\n\n", kName);
  for (const Command& command : kCommands) text += fmt::format("  {:<10} {}\n", command.name, command.purpose);
  return text + fmt::format("\n'{} COMMAND --help' explains a command.\n", kName);
}

ExitStatus run_command(const std::vector<std::string>& arguments) {
  const std::string_view first = arguments.empty() ? std::string_view() : std::string_view(arguments.front());
  if (first == "--help" || first == "-h") {
    fmt::print("{}", help());
    return ExitStatus::kOk;
  }
  if (first == "--version") {
    fmt::print("{} {}\n", kName, kVersion);
    return ExitStatus::kOk;
  }
  const auto command =
      std::find_if(kCommands.begin(), kCommands.end(), [&](const Command& each) { return each.name == first; });
  if (command == kCommands.end()) {
    std::string names;
    for (const Command& each : kCommands) names += fmt::format("{}{}", names.empty() ? "" : ", ", each.name);
    throw UsageError(fmt::format("{}; choose from {}, or see --help",
                                 first.empty() ? "no command is given" : fmt::format("there is no command '{}'", first),
                                 names));
  }
  return command->run({arguments.begin() + 1, arguments.end()});
}

}  // namespace
}  // namespace fabricbench::cluster

int main(int argc, char** argv) {
  return fabricbench::cluster::run_tool(fabricbench::cluster::kName, [&] {
    return fabricbench::cluster::run_command(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
  });
}
