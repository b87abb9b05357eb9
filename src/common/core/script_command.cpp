#include "common/core/script_command.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

namespace fabricbench {

std::string_view script_of(std::string_view command) { return command == "sweep" ? "sweep_pairs" : command; }

std::string script_command(std::string_view command) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path programs = fs::read_symlink("/proc/self/exe", error).parent_path();  // PREFIX/libexec/fabricbench
  const fs::path installed = programs.parent_path().parent_path() / "share/fabricbench/scripts";
  return fs::exists(installed, error) ? fmt::format("fabricbench {}", command)
                                      : fmt::format("scripts/{}.sh", script_of(command));
}

}  // namespace fabricbench
