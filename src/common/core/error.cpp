#include "common/core/error.h"

#include <new>
#include <system_error>

namespace fabricbench {
namespace {

/// std::thread's, where the system has no room for another one.
bool is_of_thread(const std::exception& error) {
  const auto* const known = dynamic_cast<const std::system_error*>(&error);
  return known != nullptr && known->code() == std::errc::resource_unavailable_try_again;
}

bool is_of_memory(const std::exception& error) { return dynamic_cast<const std::bad_alloc*>(&error) != nullptr; }

}  // namespace

ExitStatus status_of(const std::exception& error) {
  if (const auto* const known = dynamic_cast<const Error*>(&error)) return known->status();
  return is_of_memory(error) || is_of_thread(error) ? ExitStatus::kMissing : ExitStatus::kFailure;
}

const char* message_of(const std::exception& error) {
  if (is_of_memory(error)) {
    return "out of memory: this process, its cgroup or the host has none left; see free -h and dmesg, or take smaller "
           "messages (-e) or fewer ranks";
  }
  if (is_of_thread(error)) {
    return "cannot start a thread: Resource temporarily unavailable; raise the limit on processes (ulimit -u, or "
           "pids.max of the cgroup)";
  }
  return error.what();
}

}  // namespace fabricbench
