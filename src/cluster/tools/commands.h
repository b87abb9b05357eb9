// The commands of `fabricbench`: each reads files and prints what it finds.
#pragma once

#include <string>
#include <vector>

#include "common/core/exit_status.h"

namespace fabricbench::cluster {

/// Compares runs with baselines, or with other runs. `arguments` are those after the command's name.
[[nodiscard]] ExitStatus compare_files(const std::vector<std::string>& arguments);

/// Prints the table of a run from its record, whole or broken off.
[[nodiscard]] ExitStatus print_table(const std::vector<std::string>& arguments);

/// Draws a page of results: becomes scripts/report.py with these arguments. Throws Error (kMissing) if there is none.
[[nodiscard]] ExitStatus report_files(const std::vector<std::string>& arguments);

}  // namespace fabricbench::cluster
