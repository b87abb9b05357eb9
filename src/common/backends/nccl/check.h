#pragma once

#include <string>
#include <string_view>

#include "common/backends/nccl/library.h"

namespace fabricbench::nccl {

/// What lets ranks share a GPU.
inline constexpr std::string_view kSharedGpuSetting = "NCCL_MULTI_RANK_GPU_ENABLE=1 (NCCL 2.30 and newer)";

/// NCCL's message on the last problem of this process; empty if there was none. It may be unrelated to the last call.
/// From any thread: NCCL ignores the communicator that its function accepts.
[[nodiscard]] std::string last_error(const Library& library);

/// The meaning of a call's result in NCCL's words: `ncclAllReduce: unhandled cuda error: <last error>`.
[[nodiscard]] std::string problem_text(const Library& library, ncclResult_t result, const char* call);

[[noreturn]] void fail(const Library& library, ncclResult_t result, const char* call, std::string_view place);

/// Throws Error with NCCL's message if a call failed. `call` is the function's name; `place` is its rank and device, if
/// known.
inline void check(const Library& library, ncclResult_t result, const char* call, std::string_view place = {}) {
  if (result != ncclSuccess) [[unlikely]]
    fail(library, result, call, place);
}

/// Calls launched together. The destructor closes a group that an exception left open; otherwise every later call on
/// this thread would be part of it.
class Group {
 public:
  explicit Group(const Library& library) : library_(library) {
    check(library_, library_.functions().group_start(), "ncclGroupStart");
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group() {
    if (open_) library_.functions().group_end();
  }
  void end() { check(library_, close(), "ncclGroupEnd"); }
  /// The same for callers that check the result.
  [[nodiscard]] ncclResult_t close() {
    open_ = false;
    return library_.functions().group_end();
  }

 private:
  const Library& library_;
  bool open_ = true;
};

}  // namespace fabricbench::nccl
