// The launchers of MPI jobs, mpirun (Open MPI, hydra) and srun, and the commands by which they start one.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/host/environment.h"

namespace fabricbench::cluster {

/// What kind of mpirun is first on the PATH; kSilent: it did not say so in time.
enum class Mpirun { kOpenMpi, kHydra, kOther, kSilent };

/// What a user has said about launching.
struct LaunchSettings {
  std::string launcher = "mpirun";       ///< or srun
  std::string agent;                     ///< --agent: takes the place of ssh
  std::vector<std::string> mpi_options;  ///< --mpi-options, for the launcher
};

/// A program in a folder or of the whole system, with settings of its environment: `NAME=VALUE`.
struct Command {
  std::vector<std::string> environment;
  std::vector<std::string> words;

  /// Both, quoted for a shell.
  [[nodiscard]] std::string text() const;
};

/// The ranks of a job.
struct JobShape {
  std::vector<std::string> hosts;
  int ranks = 1;    ///< on each host
  int fewer = 0;    ///< so many hosts, the last ones, have one rank less
  int limit_s = 0;  ///< of the launcher's own time limit; 0: none
  /// For the job's files: where hosts are listed, which allows any name. Empty: they are words of the command.
  std::filesystem::path folder;
  std::vector<std::string> environment;  ///< `NAME=VALUE`, for all ranks
};

inline constexpr int kGraceSeconds = 10;      ///< for mpirun to end a job of itself after its limit
inline constexpr int kKillAfterSeconds = 15;  ///< for a launcher to end after SIGTERM

/// Starts jobs in one way, which it finds out once.
class Launcher {
 public:
  /// Makes mpirun available to this process and its children: it may be off the PATH (Fedora), and Open MPI has to be
  /// told that root may use it. Throws UsageError, and Error (kMissing) without the launcher or the agent.
  explicit Launcher(LaunchSettings settings);

  [[nodiscard]] const LaunchSettings& settings() const noexcept { return settings_; }
  [[nodiscard]] bool is_srun() const { return settings_.launcher == "srun"; }
  [[nodiscard]] Mpirun mpirun() const noexcept { return mpirun_; }

  /// Throws Error (kMissing) where it is not known how the launcher takes hosts.
  void require_known() const;

  /// The command that starts `program` (with its arguments) in a job on hosts. Passes on variables that ranks need: see
  /// forwarded_variables. Throws as require_known does, and Error (kFailure) where the file of hosts cannot be written.
  [[nodiscard]] Command command(const JobShape& shape, const std::vector<std::string>& program) const;

  /// In an allocation of Slurm, whose hosts and ranks srun knows; `words` are further options. And with so many ranks
  /// on this host, which may share cores.
  [[nodiscard]] Command command_in_allocation(const std::vector<std::string>& words,
                                              const std::vector<std::string>& program) const;
  [[nodiscard]] Command command_here(int ranks, bool share_cores, const std::vector<std::string>& program) const;

  /// What the launcher may take beyond the limit of a job.
  [[nodiscard]] int grace_s(const JobShape& shape) const;

 private:
  [[nodiscard]] Command finished(Command command, const std::vector<std::string>& program) const;

  LaunchSettings settings_;
  Mpirun mpirun_ = Mpirun::kOther;
  std::vector<std::string> environment_;  // that mpirun needs here
};

/// Adds words to those of a command.
inline void append(std::vector<std::string>& words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
}

/// Writes a file for a job. Throws Error (kFailure).
void write_text(const std::filesystem::path& file, const std::string& text);

/// Names of variables of this process's environment that ranks on other hosts need: settings of MPI, NCCL and their
/// transports, and library paths, without those that a launcher sets for the ranks of its own job. Sorted.
[[nodiscard]] std::vector<std::string> forwarded_variables();

/// A variable of this process's environment; empty also where it is not set.
[[nodiscard]] std::string_view variable(const char* name);

/// The words, quoted for a shell.
[[nodiscard]] std::string quoted(const std::vector<std::string>& words);

/// The words of --mpi-options, split at blanks.
[[nodiscard]] std::vector<std::string> split_words(std::string_view text);

using host::found_on_path;

/// The number of this host's GPUs, by nvidia-smi; 0 where that says nothing for half a minute.
[[nodiscard]] int count_gpus();

}  // namespace fabricbench::cluster
