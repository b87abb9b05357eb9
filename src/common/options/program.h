// What a program is to those who call it: its name, what it measures, and which options it takes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/options/option.h"

namespace fabricbench {

/// A command line, and what it does.
struct Example {
  std::string command;
  std::string what;
};

struct Program {
  std::string name;                 ///< such as all_reduce_perf
  std::string summary{};            ///< what it measures: the first line of --help
  std::vector<Example> examples{};  ///< three
  OptionSet options{};
  Options defaults{};  ///< what holds where the command line says nothing
  /// Adapts what the command line left open to what it says.
  std::vector<std::function<void(Options&)>> completions{};
  /// Each refuses a combination that no single option shows to be wrong. Throws UsageError.
  std::vector<std::function<void(const Options&)>> checks{};
  bool has_split_mask = false;  ///< NCCL_TESTS_SPLIT_MASK is nccl-tests' older form of --split
};

/// Checks that several kinds of programs make.
void check_sizes(const Options& options);
void check_iterations(const Options& options);

/// Operations of all ranks: all options of nccl-tests' programs, and ours; `own`: of this program alone.
[[nodiscard]] Program collective_program(std::string name, std::string summary, const OptionSet& own = {});
/// Messages between the two ranks of pairs by MPI or NCCL; `windowed`: many are under way at once. `pairs`: what
/// --pairs is where it is not given; empty: one rank each of two hosts.
[[nodiscard]] Program message_program(std::string name, std::string summary, bool windowed,
                                      const std::string& pairs = "");
/// The same over TCP connections of the program's own.
[[nodiscard]] Program tcp_program(std::string name, std::string summary, bool windowed);
/// Pair after pair.
[[nodiscard]] Program sweep_program(std::string name, std::string summary);
/// Copies between GPUs and memory within hosts.
[[nodiscard]] Program copy_program(std::string name, std::string summary);

}  // namespace fabricbench
