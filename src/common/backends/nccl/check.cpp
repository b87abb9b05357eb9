#include "common/backends/nccl/check.h"

#include <fmt/format.h>

#include "common/core/error.h"

namespace fabricbench::nccl {

std::string last_error(const Library& library) {
  const char* text = library.functions().last_error(nullptr);
  std::string line = text != nullptr ? text : "";
  while (!line.empty() && line.back() == '\n') line.pop_back();
  return line;
}

std::string problem_text(const Library& library, ncclResult_t result, const char* call) {
  const std::string detail = last_error(library);
  return fmt::format("{}: {}{}{}", call, library.functions().error_string(result), detail.empty() ? "" : ": ", detail);
}

void fail(const Library& library, ncclResult_t result, const char* call, std::string_view place) {
  throw Error(ExitStatus::kFailure,
              fmt::format("nccl: {}{}{}", place, place.empty() ? "" : ": ", problem_text(library, result, call)));
}

}  // namespace fabricbench::nccl
