#include "common/backends/sockets/check.h"

#include <cerrno>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include "common/core/error.h"

namespace fabricbench::sockets {

void fail(std::string_view call, std::string_view details) {
  const std::string reason = std::strerror(errno);  // before later calls change it
  const std::string about = details.empty() ? "" : fmt::format(" ({})", details);
  throw Error(ExitStatus::kFailure, fmt::format("tcp: {}{}: {}", call, about, reason));
}

}  // namespace fabricbench::sockets
