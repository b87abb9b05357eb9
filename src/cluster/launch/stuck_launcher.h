// Launchers that wait for ever: for themselves, for a daemon that hangs, or for a host that is out of reach.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "cluster/launch/children.h"

namespace fabricbench::cluster {

/// What is known of a job before it runs.
struct WatchedJob {
  bool by_srun = false;
  bool on_hosts = false;  ///< hosts are given, so daemons run there
  bool all_here = false;  ///< no other host can have ranks
  std::string program;    ///< path of the ranks' program
  int ranks_end_s = 0;    ///< within which all ranks end after the first one has; 0: without limit
};

/// Watches a launcher from the outside, by what /proc says of its processes and connections. It starts nothing, since
/// ranks are measuring.
class StuckLauncher {
 public:
  StuckLauncher(WatchedJob job, pid_t launcher);

  /// Why the launcher is stuck, as `... goes on WHY`; nothing as long as it may end by itself: when nothing is left of
  /// what it has started, when the ranks on this host, or the daemons of some hosts, have ended and the others have had
  /// the time for it, when no rank has begun although all are to run here, and when a host is lost. To be called every
  /// pause().
  [[nodiscard]] std::optional<std::string> why();
  [[nodiscard]] std::chrono::milliseconds pause() const noexcept { return pause_; }

  /// The launcher's processes at the last look.
  [[nodiscard]] const std::vector<pid_t>& children() const noexcept { return children_; }

 private:
  struct Limit {
    int seconds;
    std::string what;  ///< has happened
  };
  void look();
  void look_at(pid_t child, std::vector<pid_t>& parents);
  void find_ranks_of_srun();
  [[nodiscard]] std::optional<Limit> limit();

  WatchedJob job_;
  pid_t launcher_;
  std::vector<pid_t> children_;
  std::vector<pid_t> ranks_of_srun_;
  int ranks_here_ = 0;
  int daemons_ = 0;  // launch agents that stay as long as the daemons that they have started
  int most_daemons_ = 0;
  bool had_ranks_ = false;
  bool stays_ = false;  // so long that it will stay as long as its job
  std::chrono::milliseconds pause_{200};
  Clock::time_point began_ = Clock::now();
  Clock::time_point since_ = began_;   // when what it waits for was there last
  Clock::time_point looked_ = began_;  // for hosts that are out of reach
};

}  // namespace fabricbench::cluster
