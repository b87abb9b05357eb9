// Where files are that come with the programs.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace fabricbench::host {

// Folders that may have them, nearest first: `name` in each folder above the program, as in the sources with their
// `build`, and `share/fabricbench/` and the last part of `name`, as in an installation.
[[nodiscard]] std::vector<std::filesystem::path> installed_folders(std::string_view name);

}  // namespace fabricbench::host
