#include "common/backends/nccl/check.h"

#include <fmt/format.h>

#include "common/core/error.h"

namespace fabricbench::nccl {
namespace {

/// What to do about a problem; empty if NCCL's own words say all that is known.
const char* advice_on(std::string_view detail) {
  if (detail.find("Duplicate GPU detected") == std::string_view::npos) return "";
  return "; NCCL wants a GPU for each rank: start at most as many ranks on a host as it has GPUs and leave out "
         "--device, or set NCCL_MULTI_RANK_GPU_ENABLE=1 (NCCL 2.30 and newer)";
}

}  // namespace

std::string last_error(const Library& library) {
  const char* text = library.functions().last_error(nullptr);
  std::string line = text != nullptr ? text : "";
  while (!line.empty() && line.back() == '\n') line.pop_back();
  return line;
}

std::string problem_text(const Library& library, ncclResult_t result, const char* call) {
  const std::string detail = last_error(library);
  return fmt::format("{}: {}{}{}{}", call, library.functions().error_string(result), detail.empty() ? "" : ": ", detail,
                     advice_on(detail));
}

void fail(const Library& library, ncclResult_t result, const char* call, std::string_view place) {
  throw Error(ExitStatus::kFailure,
              fmt::format("nccl: {}{}{}", place, place.empty() ? "" : ": ", problem_text(library, result, call)));
}

}  // namespace fabricbench::nccl
