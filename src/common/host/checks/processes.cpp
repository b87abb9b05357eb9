#include "common/host/checks/processes.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

namespace fabricbench::host {

Process process_in(const std::string& source, const std::string& text) {
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  if (open == std::string::npos || close == std::string::npos) throw NotSeen(source, "is no line of a process");
  Process process{.id = text.substr(0, text.find(' ')), .name = text.substr(open + 1, close - open - 1)};
  std::istringstream words(text.substr(close + 1));
  std::string group;
  words >> process.state >> process.parent >> group >> process.session;
  return process;
}

std::map<std::string, Process> processes_of(Look& host) {
  std::map<std::string, Process> processes;
  for (const std::string& id : host.names("/proc")) {
    if (id.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string source = fmt::format("/proc/{}/stat", id);
    if (const auto text = host.text_if_any(source)) {
      processes[id] = process_in(source, *text);
      continue;
    }
    const auto now = host.names("/proc");
    if (std::find(now.begin(), now.end(), id) != now.end()) host.not_seen(NotSeen(source, "is not there"));
  }
  if (processes.count("1") == 0) throw NotSeen("/proc/1/stat", "cannot be seen, and so other users' processes cannot");
  return processes;
}

}  // namespace fabricbench::host
