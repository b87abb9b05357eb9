// The commands of `fabricbench`. `arguments` are the words after a command's name.
#pragma once

#include <string>
#include <vector>

#include "common/core/exit_status.h"

namespace fabricbench::cluster {

/// Compares runs with baselines, or with other runs.
[[nodiscard]] ExitStatus compare_files(const std::vector<std::string>& arguments);

/// Prints the table of a run from its record, whole or broken off.
[[nodiscard]] ExitStatus print_table(const std::vector<std::string>& arguments);

/// Draws a page of results: becomes scripts/report.py. Like the two below, throws Error (kMissing) if there is none.
[[nodiscard]] ExitStatus report_files(const std::vector<std::string>& arguments);

/// Draws bandwidth and latency against size: becomes scripts/plot.py.
[[nodiscard]] ExitStatus plot_files(const std::vector<std::string>& arguments);

/// Says what this host lacks: becomes scripts/doctor.sh.
[[nodiscard]] ExitStatus examine_host(const std::vector<std::string>& arguments);

/// Prints the catalogue of programs by the question that they answer.
[[nodiscard]] ExitStatus list_entries(const std::vector<std::string>& arguments);

/// Runs a program of the catalogue, as an MPI job where it takes one.
[[nodiscard]] ExitStatus run_program(const std::vector<std::string>& arguments);

}  // namespace fabricbench::cluster
