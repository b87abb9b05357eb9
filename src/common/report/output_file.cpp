#include "common/report/output_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

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
  if (owned_ == nullptr && (errno == EMFILE || errno == ENFILE)) {
    throw Error(ExitStatus::kMissing, fmt::format("cannot open '{}': {}; raise the limit on open files (ulimit -n)",
                                                  path_, std::strerror(errno)));
  }
  if (owned_ == nullptr) {
    throw UsageError(fmt::format("cannot write '{}': {}; give a file in a folder that you may write to", path_,
                                 std::strerror(errno)));
  }
  file_ = owned_.get();
  had_name_ = has_name();
  std::setvbuf(file_, nullptr, _IONBF, 0);  // what is left in a buffer cannot be taken back
}

OutputFile OutputFile::standard_output() { return {}; }

OutputFile OutputFile::standard_error() {
  OutputFile output;
  output.path_ = "standard error";
  output.file_ = stderr;
  return output;
}

void OutputFile::refuse() const {
  throw Error(ExitStatus::kFailure, fmt::format("cannot write to {}: {}", path_, std::strerror(errno)));
}

void OutputFile::write(std::string_view text) {
  const bool is_whole = std::fwrite(text.data(), 1, text.size(), file_) == text.size() && std::fflush(file_) == 0;
  if (is_whole) {
    written_ += static_cast<off_t>(text.size());
    return;
  }
  const int reason = errno;
  if (owned_ && ftruncate(fileno(file_), written_) == 0) std::fseek(file_, written_, SEEK_SET);
  errno = reason;
  refuse();
}

/// A temporary file that a caller passes as /dev/stdout may have none from the beginning.
bool OutputFile::has_name() const {
  struct stat status {};
  return fstat(fileno(file_), &status) != 0 || status.st_nlink > 0;
}

void OutputFile::sync() {
  constexpr std::array kCannot = {EINVAL, EROFS, ENOTSUP};  // pipes and devices
  if (had_name_ && !has_name()) {
    throw Error(ExitStatus::kFailure,
                fmt::format("{} was removed while it was written, and its results are lost", path_));
  }
  if (!owned_ || fsync(fileno(file_)) == 0) return;
  if (std::find(kCannot.begin(), kCannot.end(), errno) == kCannot.end()) refuse();
}

void OutputFile::close() {
  if (owned_ && std::fclose(owned_.release()) != 0) refuse();
}

}  // namespace fabricbench
