// How the programs of this directory begin and end.
#pragma once

#include <functional>
#include <string_view>

#include <CLI/CLI.hpp>

#include "common/core/exit_status.h"

namespace fabricbench::cluster {

/// Reads the command line into what `app`'s options are bound to; `app` has its name and description. Adds --help and
/// --version: false where one of them was asked for and has been printed. Throws UsageError.
[[nodiscard]] bool read_command_line(CLI::App& app, int argc, char** argv);

/// Does `work`, and returns its status as a number for `main`. What it throws ends up on stderr as one line that begins
/// with the program's name, and as the status that goes with it (see status_of).
[[nodiscard]] int run_tool(std::string_view program, const std::function<ExitStatus()>& work);

}  // namespace fabricbench::cluster
