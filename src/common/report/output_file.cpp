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
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/core/error.h"

namespace fabricbench {

namespace {

/// Takes the name away from the regular file at `path`; a run that still writes there notices at its end. Not from a
/// file that this process's standard streams lead to, nor from what is no plain name of it (/dev/stdout).
bool unname(const std::string& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    struct stat own {};
    if (fstat(stream, &own) == 0 && own.st_dev == status.st_dev && own.st_ino == status.st_ino) return false;
  }
  return unlink(path.c_str()) == 0;
}

/// A new file, which nobody else writes, also where `force` replaces one; null with errno if there can be none.
std::FILE* create(const std::string& path, bool force) {
  constexpr int kTries = 100;  // others may create it in between
  std::FILE* file = std::fopen(path.c_str(), "wx");
  if (!force || file != nullptr || errno != EEXIST) return file;
  std::error_code error;
  const bool is_link =
      std::filesystem::is_symlink(path, error) && !path.starts_with("/dev/") && !path.starts_with("/proc/");
  const std::string place = is_link ? std::filesystem::weakly_canonical(path, error).string() : path;
  for (int tries = 0; file == nullptr && tries < kTries && unname(place); ++tries)
    file = std::fopen(place.c_str(), "wx");
  return file != nullptr ? file : std::fopen(path.c_str(), "w");
}

}  // namespace

bool same_file(const std::string& path, const std::string& other) {
  if (path.empty() || other.empty()) return false;
  std::error_code error;
  return std::filesystem::weakly_canonical(path, error) == std::filesystem::weakly_canonical(other, error);
}

bool is_launchers_output_full() {
  struct stat own {};
  if (fstat(STDOUT_FILENO, &own) != 0 || S_ISREG(own.st_mode)) return false;
  const std::string of_launcher = fmt::format("/proc/{}/fd/1", getppid());
  struct stat status {};
  if (stat(of_launcher.c_str(), &status) != 0) return false;
  struct stat full {};
  if (S_ISCHR(status.st_mode)) return stat("/dev/full", &full) == 0 && full.st_rdev == status.st_rdev;
  struct statvfs disk {};
  if (!S_ISREG(status.st_mode) || statvfs(of_launcher.c_str(), &disk) != 0 || disk.f_blocks == 0) return false;
  return (geteuid() == 0 ? disk.f_bfree : disk.f_bavail) == 0;
}

OutputFile::OutputFile(std::string path, bool force) : path_(std::move(path)) {
  owned_.reset(create(path_, force));
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
                fmt::format("{} was removed while it was written, or replaced by another run, and its results are lost",
                            path_));
  }
  if (!owned_ || fsync(fileno(file_)) == 0) return;
  if (std::find(kCannot.begin(), kCannot.end(), errno) == kCannot.end()) refuse();
}

void OutputFile::close() {
  if (owned_ && std::fclose(owned_.release()) != 0) refuse();
}

}  // namespace fabricbench
