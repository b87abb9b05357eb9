// The command lines of an acceptance run's jobs.
#pragma once

#include <filesystem>
#include <string>

#include "cluster/acceptance/accept_options.h"
#include "cluster/acceptance/run_folder.h"
#include "cluster/launch/children.h"
#include "cluster/launch/launcher.h"

namespace fabricbench::acceptance {

class JobCommands {
 public:
  /// `scratch`: where files of jobs may be.
  JobCommands(const AcceptOptions& options, const cluster::Launcher& launcher, std::filesystem::path scratch);

  /// Of a program on one host, or on many. `folder`: for the job's files.
  [[nodiscard]] cluster::Command job(const std::string& program, const Words& hosts, int limit_s,
                                     const std::filesystem::path& folder) const;
  /// What the launcher may take beyond the limit of a job.
  [[nodiscard]] int grace_s(int limit_s) const;

  /// Of the sweep over pairs, whose records and logs are in `folder`. Begins where existing records end.
  [[nodiscard]] cluster::Command sweep(const std::filesystem::path& folder, const std::string& records,
                                       const Words& hosts) const;

 private:
  [[nodiscard]] cluster::JobShape shape_of(const Words& hosts, int limit_s) const;

  const AcceptOptions& options_;
  const cluster::Launcher& launcher_;
  std::filesystem::path scratch_;
};

// An acceptance run: starts its jobs, judges what they leave, and writes the verdict.

/// What a run works with.
struct AcceptWork {
  const AcceptOptions& options;
  const cluster::CalledAs& called;
  const JobCommands& commands;
  RunFolder& folder;
  std::filesystem::path scratch;
  bool is_new;  ///< nothing was measured before this call
  cluster::Clock::time_point began;
};

/// Measures what is to be measured, until nothing is left or a signal comes, and writes the verdict, which is printed
/// in the form that `nagios` asks for. Returns the exit status. `told`: set once that is printed.
[[nodiscard]] int run_acceptance(const AcceptWork& work, bool nagios, bool& told);

}  // namespace fabricbench::acceptance
