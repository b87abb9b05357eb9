#include "cluster/run/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "cluster/run/launch_recorder.h"
#include "common/core/error.h"
#include "common/core/ownership.h"
#include "common/core/plain_text.h"
#include "common/host/files.h"
#include "common/record/json.h"
#include "common/record/read.h"

namespace fabricbench::baseline {
namespace {

namespace fs = std::filesystem;
using record::json_line;
using record::to_json;

[[noreturn]] void refuse(const std::string& name, std::size_t line, const std::string& problem) {
  throw Error(ExitStatus::kNotJudged,
              fmt::format("{}:{}: {}; take the file from where it was kept, or record a new one", name, line, problem));
}

/// Reads lines of one kind after another.
class Reader {
 public:
  Reader(std::string_view text, std::string name) : rest_(text), name_(std::move(name)) {}

  [[nodiscard]] std::vector<Launch> read() {
    const auto start = next<FileStart>("baseline");
    if (start.version < 1) fail("baseline_version is missing, or 0");
    if (start.version > kBaselineVersion) {
      throw Error(ExitStatus::kNotJudged,
                  fmt::format("{}: it is a baseline of version {}, and this program reads versions up to {}; use the "
                              "fabricbench that wrote it, or a later one",
                              name_, start.version, kBaselineVersion));
    }
    std::vector<Launch> launches;
    while (!rest_.empty()) launches.push_back(next_launch());
    if (std::cmp_not_equal(launches.size(), start.launches)) {
      fail(fmt::format("the first line says {} launches, and there are {}", start.launches, launches.size()));
    }
    return launches;
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const { refuse(name_, line_, problem); }

  [[nodiscard]] Launch next_launch() {
    Launch launch;
    launch.start = next<LaunchStart>("launch");
    if (launch.start.identity.empty()) fail("identity is empty");
    std::set<RowKey> keys;
    for (std::int64_t row = 0; row < launch.start.rows; ++row) {
      launch.rows.push_back(next<RowTimes>("row_times"));
      check(launch.rows.back());
      if (!keys.insert(launch.rows.back().key).second) fail("this launch has had this row before");
    }
    return launch;
  }

  void check(const RowTimes& row) const {
    const std::string problem = contradiction_in(row);
    if (!problem.empty()) fail(problem);
    const std::string& placement = row.key.placement;
    if (!placement.empty() && placement != "out_of_place" && placement != "in_place") {
      fail(fmt::format("placement '{}' is none of out_of_place and in_place", placement));
    }
  }

  template <typename Record>
  [[nodiscard]] Record next(std::string_view kind) {
    ++line_;
    const std::size_t end = rest_.find('\n');
    if (end == std::string_view::npos) fail(fmt::format("the file is cut off where a {} line should follow", kind));
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    try {
      const std::string found(reader_.open(line));
      if (found != kind) fail(fmt::format("a line of kind '{}' stands where a {} line should", found, kind));
      return reader_.read_whole<Record>();
    } catch (const std::invalid_argument& problem) {
      fail(fmt::format("this is no {} line ({})", kind, problem.what()));
    }
  }

  std::string_view rest_;
  std::string name_;
  std::size_t line_ = 0;
  record::LineReader reader_;
};

[[noreturn]] void refuse_to_write(const std::string& path, int error) {
  if (error == ENOSPC || error == EDQUOT || error == EIO) {
    throw Error(ExitStatus::kFailure,
                fmt::format("cannot write '{}': {}; nothing was changed", path, std::strerror(error)));
  }
  throw UsageError(
      fmt::format("cannot write '{}': {}; give a file in a folder that you may write to", path, std::strerror(error)));
}

/// Keeps other writers of a file away while it exists.
class Lock : NotCopied {
 public:
  /// Waits for at most 30 s. Throws UsageError if the lock cannot be had.
  explicit Lock(const std::string& target) : target_(target), path_(target + ".lock") {
    constexpr auto kLimit = std::chrono::seconds(30);
    constexpr auto kPause = std::chrono::milliseconds(20);
    const auto give_up = std::chrono::steady_clock::now() + kLimit;
    while (!take()) {
      if (std::chrono::steady_clock::now() > give_up) {
        throw UsageError(fmt::format("another program has kept '{}' for 30 s; try again when it has ended", path_));
      }
      std::this_thread::sleep_for(kPause);
    }
  }
  ~Lock() {
    unlink(path_.c_str());
    close(file_);
  }

 private:
  /// False if another program has the lock, or has just removed it.
  bool take() {
    file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file_ < 0) refuse_to_write(target_, errno);
    if (flock(file_, LOCK_EX | LOCK_NB) == 0 && is_there()) return true;
    const int error = errno;
    close(file_);
    if (error != EWOULDBLOCK && error != EINTR && error != ENOENT) refuse_to_write(target_, error);
    return false;
  }
  /// Whether the file that was opened is the one that has the name now.
  [[nodiscard]] bool is_there() const {
    struct stat own {};
    struct stat named {};
    errno = ENOENT;
    return fstat(file_, &own) == 0 && stat(path_.c_str(), &named) == 0 && own.st_ino == named.st_ino;
  }

  std::string target_;
  std::string path_;
  int file_ = -1;
};

/// The file itself, where the path is a symbolic link. Throws UsageError if it cannot be a baseline, or is
/// write-protected.
std::string target_of(const std::string& path) {
  std::error_code error;
  const fs::path target = fs::canonical(path, error);
  if (error) {
    if (fs::is_symlink(path, error)) {
      throw UsageError(fmt::format("'{}' is a link that leads nowhere; remove it, or give another file", path));
    }
    return path;
  }
  if (!fs::is_regular_file(target, error)) refuse_to_write(path, fs::is_directory(target, error) ? EISDIR : EINVAL);
  constexpr auto kAnyWrite = fs::perms::owner_write | fs::perms::group_write | fs::perms::others_write;
  const bool is_protected = (fs::status(target, error).permissions() & kAnyWrite) == fs::perms::none;  // also from root
  if (is_protected || access(target.c_str(), W_OK) != 0) refuse_to_write(path, is_protected ? EACCES : errno);
  return target.string();
}

std::vector<Launch> read_if_there(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error) ? read_baseline(path) : std::vector<Launch>();
}

}  // namespace

bool is_first_line(std::string_view line) {
  try {
    return record::LineReader().open(line) == "baseline";
  } catch (const std::invalid_argument&) {
    return false;
  }
}

std::vector<Launch> read_launches(std::string_view text, const std::string& name) {
  return Reader(without_byte_order_mark(text), name).read();
}

std::vector<Launch> read_baseline(const std::string& path) {
  std::error_code error;
  const auto text = fs::is_regular_file(path, error) ? host::read_text(path) : std::nullopt;
  if (!text) {
    throw Error(ExitStatus::kMissing,
                fmt::format("cannot read the baseline '{}'; check the path, or record one with --record", path));
  }
  return read_launches(*text, path);
}

std::string text_of(const std::vector<Launch>& launches) {
  const FileStart first{.version = kBaselineVersion, .launches = static_cast<std::int64_t>(launches.size())};
  std::string text = json_line(to_json(first));
  for (const Launch& launch : launches) {
    LaunchStart start = launch.start;
    start.rows = static_cast<std::int64_t>(launch.rows.size());
    text += json_line(to_json(start));
    for (const RowTimes& row : launch.rows) text += json_line(to_json(row));
  }
  return text;
}

void replace_file(const std::string& path, const std::string& text) {
  struct stat before {};
  const bool is_there = stat(path.c_str(), &before) == 0;
  if (is_there && !S_ISREG(before.st_mode)) refuse_to_write(path, ENOTSUP);  // a device would become a file
  const std::string next = path + ".new";                                    // one writer at a time has the lock
  unlink(next.c_str());  // of one that was killed, or a link of somebody's
  const int file = open(next.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) refuse_to_write(path, errno);
  int error = 0;
  if (is_there) {
    const bool owned = fchown(file, before.st_uid, before.st_gid) == 0 || fchown(file, -1U, before.st_gid) == 0;
    static_cast<void>(owned);  // who may not give files away keeps them
    if (fchmod(file, before.st_mode & 07777U) != 0) error = errno;
  }
  if (error == 0) error = host::write_all(file, text);
  if (error == 0 && fsync(file) != 0) error = errno;
  if (close(file) != 0 && error == 0) error = errno;
  if (error == 0 && std::rename(next.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return;
  unlink(next.c_str());
  refuse_to_write(path, error);
}

std::size_t add_launch(const std::string& path, const Launch& launch) {
  const std::string target = target_of(path);
  const Lock lock(target);
  std::vector<Launch> launches = read_if_there(target);
  launches.push_back(launch);
  replace_file(target, text_of(launches));
  return launches.size();
}

void check_writable(const std::string& path) {
  const std::string target = target_of(path);
  const Lock lock(target);
  static_cast<void>(read_if_there(target));
}

}  // namespace fabricbench::baseline
