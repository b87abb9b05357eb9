// One job in the foreground of a terminal or a script: its output, the signals that a user sends, and its end, also
// where its launcher waits for ever: for itself, for a daemon that hangs, or for a host that is out of reach.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "cluster/launch/launcher.h"

namespace fabricbench::cluster {

/// What is known of a job before it runs.
struct WatchedJob {
  bool by_srun = false;
  bool on_hosts = false;  ///< hosts are given, so daemons run there
  bool all_here = false;  ///< no other host can have ranks
  std::string program;    ///< path of the ranks' program
  int ranks_end_s = 0;    ///< within which all ranks end after the first one has; 0: without limit
};

/// How it ended.
struct ForegroundEnd {
  int status = 0;            ///< of the launcher; 128 and the signal's number if this process was told to end
  bool is_stuck = false;     ///< the launcher did not end by itself, and was ended
  bool output_lost = false;  ///< not all of it could be written
};

/// Runs a job to its end. Its output goes to standard output. Ctrl-Z stops the ranks too, and they go on with this
/// process. A signal that ends this process (SIGINT, SIGTERM, SIGHUP...) ends the job: first so that the ranks print
/// what they have measured (SIGUSR1), then, and at once when there is another signal, by SIGTERM and SIGKILL. `say`
/// prints a line for readers. Throws Error (kMissing) if the launcher cannot be started.
[[nodiscard]] ForegroundEnd run_in_foreground(const Command& command, WatchedJob job,
                                              const std::function<void(std::string_view)>& say);

}  // namespace fabricbench::cluster
