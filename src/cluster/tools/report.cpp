#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "cluster/tools/commands.h"
#include "common/core/error.h"
#include "common/host/installed_files.h"

namespace fabricbench::cluster {
namespace {

namespace fs = std::filesystem;

fs::path find_script() {
  std::error_code error;
  for (const fs::path& folder : host::installed_folders("scripts")) {
    if (fs::is_regular_file(folder / "report.py", error)) return fs::canonical(folder / "report.py", error);
  }
  throw Error(
      ExitStatus::kMissing,
      "there is no scripts/report.py above the program; install the suite as a whole, or run report.py from its "
      "sources");
}

}  // namespace

ExitStatus report_files(const std::vector<std::string>& arguments) {
  const std::string script = find_script();
  std::vector<std::string> words = {"python3", script};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::setenv("FABRICBENCH_COMMAND", "fabricbench report", 1);  // NOLINT(concurrency-mt-unsafe): one thread
  ::execvp(pointers.front(), pointers.data());
  throw Error(ExitStatus::kMissing, fmt::format("cannot run python3 ({}), which draws the page; install it",
                                                std::strerror(errno)));  // NOLINT(concurrency-mt-unsafe): one thread
}

}  // namespace fabricbench::cluster
