#include "cluster/tools/text_file.h"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

#include <fmt/format.h>

#include "common/core/error.h"

namespace fabricbench::cluster {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const {
    if (file != stdout) std::fclose(file);
  }
};

[[noreturn]] void refuse(ExitStatus status, const std::string& path, std::string_view what) {
  const std::string name = path == "-" ? "standard output" : fmt::format("{} '{}'", what, path);
  throw Error(status, fmt::format("cannot write {}: {}; check the path, its permissions and the free space", name,
                                  std::system_category().message(errno)));
}

}  // namespace

void write_text_file(const std::string& path, std::string_view text, std::string_view what) {
  const std::unique_ptr<std::FILE, CloseFile> file(path == "-" ? stdout : std::fopen(path.c_str(), "w"));
  if (!file) refuse(ExitStatus::kMissing, path, what);
  const bool written = std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
  if (!written || std::fflush(file.get()) != 0) refuse(ExitStatus::kFailure, path, what);
}

}  // namespace fabricbench::cluster
