// The common beginning and end of the programs in this directory.
#pragma once

#include <functional>
#include <string_view>

#include <CLI/CLI.hpp>

#include "common/core/exit_status.h"

namespace fabricbench::cluster {

/// Reads the command line into the variables of `app`'s options; `app` has its name and description. Adds --help and
/// --version, and returns false after printing one of them. Throws UsageError.
[[nodiscard]] bool read_command_line(CLI::App& app, int argc, char** argv);

/// Runs `work`, and returns its status as a number for `main`. Prints an exception to stderr as one line that begins
/// with the program's name, and returns its status (see status_of).
[[nodiscard]] int run_tool(std::string_view program, const std::function<ExitStatus()>& work);

}  // namespace fabricbench::cluster
