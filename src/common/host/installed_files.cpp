#include "common/host/installed_files.h"

#include <system_error>

namespace fabricbench::host {

std::vector<std::filesystem::path> installed_folders(std::string_view name) {
  constexpr int kMostLevels = 4;
  std::error_code error;
  std::filesystem::path above = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  std::vector<std::filesystem::path> folders;
  for (int level = 0; level < kMostLevels && above != above.root_path(); ++level) {
    above = above.parent_path();
    folders.push_back(above / name);
    folders.push_back(above / "share/fabricbench" / std::filesystem::path(name).filename());
  }
  return folders;
}

}  // namespace fabricbench::host
