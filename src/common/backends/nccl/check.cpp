#include "common/backends/nccl/check.h"

#include <fmt/format.h>

#include "common/core/error.h"

namespace fabricbench::nccl {
namespace {

/// What to do about a problem; empty if NCCL's own words say all that is known.
std::string advice_on(std::string_view detail) {
  const auto has = [detail](std::string_view words) { return detail.find(words) != std::string_view::npos; };
  const bool names_setting = has("are using the same GPU");  // since 2.30
  if (!has("Duplicate GPU detected") && !names_setting) return "";
  return fmt::format(
      "; NCCL wants a GPU for each rank: start at most as many ranks on a host as it has GPUs and leave out --device{}",
      names_setting ? "" : fmt::format(", or set {}", kSharedGpuSetting));
}

}  // namespace

std::string last_error(const Library& library) {
  const char* text = library.functions().last_error(nullptr);
  std::string line = text != nullptr ? text : "";
  while (!line.empty() && (line.back() == '\n' || line.back() == '.')) line.pop_back();
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
