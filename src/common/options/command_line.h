#pragma once

#include <string>
#include <vector>

#include "common/options/program.h"

namespace fabricbench {

/// The result of reading a command line: options for a run, or a text to print instead.
struct CommandLine {
  Options options;
  std::string text;                  ///< for --help or --version; empty: run
  std::vector<std::string> notices;  ///< how options of other tools were read
};

/// Reads the arguments after the program's name. `called`: how the user called it, for --help; empty: by its name.
/// Throws UsageError.
[[nodiscard]] CommandLine parse_command_line(const Program& program, const std::vector<std::string>& arguments,
                                             const std::string& called = "");

/// The arguments of rank 0, after options from the environment.
[[nodiscard]] std::vector<std::string> arguments_with_environment(const Program& program, int argc, char** argv);

/// The help text of an option: its effect, its default, and its environment variable.
[[nodiscard]] std::string help_of(const Option& option, const Options& defaults);

}  // namespace fabricbench
