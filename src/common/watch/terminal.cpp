#include "common/watch/terminal.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

namespace fabricbench {

bool launcher_has_terminal(int descriptor) {
  std::error_code problem;
  const auto target = std::filesystem::read_symlink(fmt::format("/proc/{}/fd/{}", getppid(), descriptor), problem);
  if (problem) return false;
  const std::string_view name = target.native();
  return name.rfind("/dev/pts/", 0) == 0 || name.rfind("/dev/tty", 0) == 0;
}

bool wants_colour(bool launched) {
  const char* refused = std::getenv("NO_COLOR");
  if (refused != nullptr && *refused != '\0') return false;
  if (isatty(STDOUT_FILENO) == 0) return false;
  return !launched || launcher_has_terminal(STDOUT_FILENO);
}

}  // namespace fabricbench
