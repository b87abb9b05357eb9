#pragma once

#include <string_view>

namespace fabricbench {

/// From now on an exception that nobody catches, such as one of a thread or of a destructor, ends the process with a
/// message and the exit status of that exception, instead of with abort and 134. `speaker` stands before the message:
/// `all_reduce_perf: rank 3 on node-07`. Not thread-safe.
void set_crash_message(std::string_view speaker);

}  // namespace fabricbench
