// The command line of `fabricbench accept`, and that of the run that it continues.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/acceptance/plan.h"
#include "cluster/command/command_options.h"
#include "cluster/command/host_source.h"
#include "cluster/launch/launcher.h"
#include "common/record/baseline.h"

namespace fabricbench::acceptance {

inline constexpr std::size_t kManyHosts = 16;  // with more, pairs are measured in one job
inline constexpr int kLonger = 10;  // a collective may take that many times as long as a job on one or two hosts

using Words = std::vector<std::string>;

/// Keys of --allow that are about the run as a whole.
inline constexpr std::array<std::string_view, 2> kRunKeys = {"carried_by", "groups"};

/// The text of `accept --help`, with the names of scripts.
[[nodiscard]] std::string accept_help();

/// Of this call alone.
struct CallOptions {
  bool dry_run = false;
  bool nagios = false;
  std::string folder;        ///< of the run to continue; empty: it is a new one
  std::string recheck_list;  ///< hosts to measure again; empty: none
  Words words;               ///< all others, which belong to the run
};
/// Throws UsageError.
[[nodiscard]] CallOptions read_call(const Words& arguments);

/// Values by the name of their option.
using Values = std::map<std::string, std::string>;

/// Of the run.
struct AcceptOptions {
  cluster::HostOptions hosts;
  std::string locality;
  std::string baseline;
  std::string preset;
  std::string expect;
  std::string line_rate;
  std::string record;
  std::string allow;
  std::string tolerance;  ///< empty: the default
  std::string collectives = "all_reduce_perf";
  std::string first_size;
  std::string last_size;
  std::string factor;
  int ranks = 0;  ///< of each host; 0: by its GPUs
  Words collective_options;
  Words alone_options;
  Words pair_options;
  Words sweep_options;
  int at_once = 32;  ///< hosts measured alone at the same time
  int limit_s = 60;  ///< of a job on one or two hosts
  cluster::LaunchSettings launch;
  std::string programs_folder;
  std::string output;
  std::string prometheus;
  bool strict = false;

  /// Programs, files, and words that others read. A folder cannot command these, so each call gives them.
  Values acting;
  Values acting_of_folder;  ///< with which the folder was made

  int gpus = 0;                              ///< of this host
  std::vector<baseline::Launch> launches{};  ///< of --baseline
  PlanSettings plan;
  std::string held_against = "each other";

  [[nodiscard]] const std::string& first_program() const { return plan.programs.front(); }
};

/// Reads words of this call; false after printing the help. Throws UsageError.
[[nodiscard]] bool read_words(AcceptOptions& options, const Words& words, const cluster::CalledAs& called);
/// Reads the command of the run in `folder`. Throws UsageError.
void read_stored_words(AcceptOptions& options, const Words& words, const cluster::CalledAs& called,
                       const std::string& folder);

/// The words of a command as a shell reads them, without expansions. Throws std::invalid_argument.
[[nodiscard]] Words words_of_shell(std::string_view text);

/// The options that act, as words for a shell.
[[nodiscard]] std::string acting_words(const AcceptOptions& options);

/// Refuses a folder that was made with other programs, files or options of others than this call names. Throws
/// UsageError.
void check_acting(const AcceptOptions& options, const std::string& folder);

/// Refuses wrong values before anything is measured, and completes the options by what they leave open. Throws Error.
void complete(AcceptOptions& options);

}  // namespace fabricbench::acceptance
