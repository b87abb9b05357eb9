#pragma once

#include <string>

#include "common/options/program.h"

namespace CLI {
class App;
}

namespace fabricbench {

/// What --help says of an option: what it does, its default, the variable that sets it too.
[[nodiscard]] std::string help_of(const Option& option, const Options& defaults);

/// Gives `app` its --help: what the program measures, three examples, then its options, in 100 columns.
void write_help(const Program& program, CLI::App& app);

}  // namespace fabricbench
