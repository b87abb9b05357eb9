// The command lines of an acceptance run's jobs.
#pragma once

#include <filesystem>
#include <string>

#include "cluster/acceptance/accept_options.h"
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

}  // namespace fabricbench::acceptance
