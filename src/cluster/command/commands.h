// The commands of `fabricbench`. `arguments` are the words after a command's name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cluster/command/catalogue.h"
#include "cluster/pairs/verdict.h"
#include "common/core/error.h"

namespace fabricbench::cluster {

/// Compares runs with baselines, or with other runs.
[[nodiscard]] ExitStatus compare_files(const std::vector<std::string>& arguments);

/// Prints the table of a run from its record, whole or broken off.
[[nodiscard]] ExitStatus print_table(const std::vector<std::string>& arguments);

/// Draws a page of results: becomes scripts/report.py. Like the two below, throws Error (kMissing) if there is none.
[[nodiscard]] ExitStatus report_files(const std::vector<std::string>& arguments);

/// Draws bandwidth and latency against size: becomes scripts/plot.py.
[[nodiscard]] ExitStatus plot_files(const std::vector<std::string>& arguments);

/// Says what this host lacks for which programs, and what mends it.
[[nodiscard]] ExitStatus examine_host(const std::vector<std::string>& arguments);

/// Looks at hosts before a run: as an MPI job, or by ssh.
[[nodiscard]] ExitStatus preflight_hosts(const std::vector<std::string>& arguments);

/// Records a baseline by several launches. Like all commands that are called like scripts, it prints its own errors,
/// with the name by which it was called.
[[nodiscard]] ExitStatus record_baseline(const std::vector<std::string>& arguments);

/// Measures one pair of hosts.
[[nodiscard]] ExitStatus check_node_pair(const std::vector<std::string>& arguments);

/// Measures pairs of hosts in rounds, and judges them.
[[nodiscard]] ExitStatus sweep_pairs(const std::vector<std::string>& arguments);

/// Accepts or drains hosts. In cluster/acceptance, which uses what is here.
[[nodiscard]] ExitStatus accept_hosts(const std::vector<std::string>& arguments);

/// Prints the catalogue of programs by the question that they answer.
[[nodiscard]] ExitStatus list_entries(const std::vector<std::string>& arguments);

/// Runs a program of the catalogue, as an MPI job where it takes one.
[[nodiscard]] ExitStatus run_program(const std::vector<std::string>& arguments);

/// A command line of `run`, apart: options of the launch, and all other words.
struct LaunchWords {
  std::vector<std::string> options;
  std::vector<std::string> others;
};

/// Takes the options of a launch out of `words`: up to the first other word, or `everywhere` before `--`, which is left
/// out then. Throws UsageError where a value is missing.
[[nodiscard]] LaunchWords take_launch_options(const std::vector<std::string>& words, bool everywhere);

/// `; the nearest is --dry-run`: options that may be meant by one that does not exist, or nothing.
[[nodiscard]] std::string nearest_launch_options(std::string_view given);

/// The program find_slow_links: judges the records of a sweep, and prints the verdict. Throws Error.
[[nodiscard]] ExitStatus find_slow_links(int argc, char** argv);

/// Sets one of the two expectations by a value of --expect; neither by an empty one. Throws UsageError.
void set_expected(const std::string& text, VerdictSettings& settings);

/// The folder of this program, in which all others are.
[[nodiscard]] std::string programs_folder();

/// The path of a script of the suite; empty: it is not installed.
[[nodiscard]] std::string script_path(std::string_view file);

/// The path of a program of the suite: in the folder that --programs gives, else beside this one. Throws Error
/// (kMissing).
[[nodiscard]] std::string find_program(std::string_view name, const std::string& given_folder);

/// Runs the MPI job of an entry that is no command, or becomes its program or script. `options` are those of the launch
/// that precede its name.
[[nodiscard]] ExitStatus run_entry(const CatalogueEntry& entry, const std::vector<std::string>& options,
                                   const std::vector<std::string>& arguments);

}  // namespace fabricbench::cluster
