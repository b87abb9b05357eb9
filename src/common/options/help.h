#pragma once

#include <string>

#include "common/options/program.h"

namespace CLI {
class App;
}

namespace fabricbench {

/// The help text of an option: its effect, its default, and its environment variable.
[[nodiscard]] std::string help_of(const Option& option, const Options& defaults);

/// Gives `app` its --help: the program's purpose, three examples, and the options, in 100 columns.
void write_help(const Program& program, CLI::App& app);

}  // namespace fabricbench
