// The processes of a host.
#pragma once

#include <map>
#include <string>

#include "common/host/checks/check.h"

namespace fabricbench::host {

/// A line of /proc/PID/stat. Source: proc_pid_stat(5).
struct Process {
  std::string id;
  std::string name;  ///< 15 characters at most
  char state = '?';
  std::string parent{};
  std::string session{};
};

/// The process that a line of `source` is about. Throws NotSeen.
[[nodiscard]] Process process_in(const std::string& source, const std::string& text);

/// All processes by their numbers. One that is listed and cannot be seen is not seen, and one that has ended meanwhile
/// is no matter. Throws NotSeen.
[[nodiscard]] std::map<std::string, Process> processes_of(Look& host);

}  // namespace fabricbench::host
