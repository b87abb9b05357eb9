#pragma once

#include <string>
#include <vector>

#include "common/options/program.h"

namespace fabricbench {

/// What a command line asks for: a run with these options, or a text to print instead.
struct CommandLine {
  Options options;
  std::string text;  ///< of --help or --version; empty: run
};

/// Reads the arguments after the program's name. Throws UsageError.
[[nodiscard]] CommandLine parse_command_line(const Program& program, const std::vector<std::string>& arguments);

/// The arguments as rank 0 sees them: what the environment sets is put before them as options.
[[nodiscard]] std::vector<std::string> arguments_with_environment(const Program& program, int argc, char** argv);

/// Key and value as text of every option that the program has, in the order of declaration; those without a value are
/// left out.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> option_values(const Program& program,
                                                                             const Options& options);

}  // namespace fabricbench
