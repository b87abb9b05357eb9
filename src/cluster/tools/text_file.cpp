#include "cluster/tools/text_file.h"

#include <cerrno>
#include <cstdio>
#include <system_error>

#include <fmt/format.h>

#include "common/core/error.h"
#include "common/core/handle.h"

namespace fabricbench::cluster {
namespace {

[[noreturn]] void refuse(ExitStatus status, const std::string& path, std::string_view what) {
  const std::string name = path == "-" ? "standard output" : fmt::format("{} '{}'", what, path);
  throw Error(status, fmt::format("cannot write {}: {}; check the path, its permissions and the free space", name,
                                  std::system_category().message(errno)));
}

}  // namespace

void write_text_file(const std::string& path, std::string_view text, std::string_view what) {
  Handle<std::FILE, &std::fclose> owned(path == "-" ? nullptr : std::fopen(path.c_str(), "w"));
  if (!owned && path != "-") refuse(ExitStatus::kMissing, path, what);
  std::FILE* const file = owned ? owned.get() : stdout;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (!written || std::fflush(file) != 0) refuse(ExitStatus::kFailure, path, what);
  if (owned && std::fclose(owned.release()) != 0) refuse(ExitStatus::kFailure, path, what);
}

}  // namespace fabricbench::cluster
