// A program's name, purpose and options.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/options/option.h"

namespace fabricbench {

/// A command line, and its effect.
struct Example {
  std::string command;
  std::string what;
};

struct Program {
  std::string name;                 ///< such as all_reduce_perf
  std::string summary{};            ///< its purpose: the first line of --help
  std::vector<Example> examples{};  ///< three
  OptionSet options{};
  Options defaults{};  ///< used where the command line sets nothing
  /// Adjust options that the command line left open.
  std::vector<std::function<void(Options&)>> completions{};
  /// Refuse invalid combinations of options. Throw UsageError.
  std::vector<std::function<void(const Options&)>> checks{};
  bool has_split_mask = false;  ///< accept NCCL_TESTS_SPLIT_MASK, nccl-tests' older form of --split
};

/// The key and value of every option of the program, in the order of declaration; options without a value are left out.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> option_values(const Program& program,
                                                                             const Options& options);

/// Checks shared by several kinds of programs.
void check_sizes(const Options& options);
void check_iterations(const Options& options);
void check_places(const Options& options);

/// Operations of all ranks, with nccl-tests' options and ours; `own`: options of this program alone.
[[nodiscard]] Program collective_program(const std::string& name, const std::string& summary,
                                         const OptionSet& own = {});
/// Messages between the two ranks of pairs by MPI or NCCL; `windowed`: many are in flight at once. `pairs`: the default
/// of --pairs; empty: one rank on each of two hosts.
[[nodiscard]] Program message_program(const std::string& name, const std::string& summary, bool windowed,
                                      const std::string& pairs = "");
/// The same over the program's own TCP connections.
[[nodiscard]] Program tcp_program(const std::string& name, const std::string& summary, bool windowed);
/// A sweep over pairs.
[[nodiscard]] Program sweep_program(const std::string& name, const std::string& summary);
/// Checks of hosts.
[[nodiscard]] Program preflight_program(const std::string& name, const std::string& summary);
/// Copies between GPUs and memory within hosts.
[[nodiscard]] Program copy_program(const std::string& name, const std::string& summary);

}  // namespace fabricbench
