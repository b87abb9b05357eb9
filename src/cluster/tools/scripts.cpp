#include "cluster/tools/scripts.h"

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "common/core/error.h"
#include "common/host/installed_files.h"

namespace fabricbench::cluster {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPython = ".py";

}  // namespace

std::string programs_folder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

std::string find_script(std::string_view file) {
  std::error_code error;
  for (const fs::path& folder : host::installed_folders("scripts")) {
    if (fs::is_regular_file(folder / file, error)) return fs::canonical(folder / file, error);
  }
  throw Error(
      ExitStatus::kMissing,
      fmt::format("there is no scripts/{0} above the program; install the suite as a whole, or run {0} from its "
                  "sources",
                  file));
}

void become(std::vector<std::string> words, std::string_view advice) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execvp(pointers.front(), pointers.data());
  const char* const reason = std::strerror(errno);  // NOLINT(concurrency-mt-unsafe): one thread
  throw Error(ExitStatus::kMissing, fmt::format("cannot run {} ({}); {}", words.front(), reason, advice));
}

void become_script(std::string_view file, std::string_view command, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {file.ends_with(kPython) ? "python3" : "bash", find_script(file)};
  words.insert(words.end(), arguments.begin(), arguments.end());
  // NOLINTBEGIN(concurrency-mt-unsafe): one thread
  ::setenv("FABRICBENCH_COMMAND", std::string(command).c_str(), 1);
  ::setenv("FABRICBENCH_PROGRAMS_FOLDER", programs_folder().c_str(), 1);
  // NOLINTEND(concurrency-mt-unsafe)
  become(words, "install it");
}

}  // namespace fabricbench::cluster
