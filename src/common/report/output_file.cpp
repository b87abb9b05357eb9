#include "common/report/output_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "common/core/error.h"

namespace fabricbench {

bool same_file(const std::string& path, const std::string& other) {
  if (path.empty() || other.empty()) return false;
  std::error_code error;
  return std::filesystem::weakly_canonical(path, error) == std::filesystem::weakly_canonical(other, error);
}

OutputFile::OutputFile(std::string path, bool force) : path_(std::move(path)) {
  owned_.reset(std::fopen(path_.c_str(), force ? "w" : "wx"));
  if (owned_ == nullptr && errno == EEXIST) {
    throw UsageError(fmt::format("'{}' exists; give another name, or --force to overwrite it", path_));
  }
  if (owned_ == nullptr) {
    throw UsageError(fmt::format("cannot write '{}': {}; give a file in a folder that you may write to", path_,
                                 std::strerror(errno)));
  }
  file_ = owned_.get();
}

OutputFile OutputFile::standard_output() { return {}; }

void OutputFile::write(std::string_view text) {
  const std::size_t written = std::fwrite(text.data(), 1, text.size(), file_);
  if (written != text.size() || std::fflush(file_) != 0) {
    throw Error(ExitStatus::kFailure, fmt::format("cannot write to {}: {}", path_, std::strerror(errno)));
  }
}

}  // namespace fabricbench
