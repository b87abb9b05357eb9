#include "common/watch/progress.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "common/core/clock.h"

namespace fabricbench {
namespace {

Seconds interval_of(ProgressForm form) { return form == ProgressForm::kLog ? 10 : 0.2; }

/// The line that stands, of the one Progress of a process.
std::atomic<std::FILE*> stream = stderr;
std::atomic<std::size_t> width = 0;
std::atomic<bool> has_ended = false;  // see end_progress

void overwrite(std::string_view line) {
  fmt::print(stream.load(), "{}", line);
  std::fflush(stream);
}

void clear_line() {
  const std::size_t standing = width.exchange(0);
  if (standing > 0) overwrite(fmt::format("\r{:{}}\r", "", standing + 2));
}

/// Open MPI's launcher gives every process a terminal as stdout, even if its own is a file.
bool table_is_watched() { return isatty(STDOUT_FILENO) != 0 && launcher_has_terminal(STDOUT_FILENO); }

}  // namespace

bool launcher_has_terminal(int descriptor) {
  std::error_code problem;
  const auto target = std::filesystem::read_symlink(fmt::format("/proc/{}/fd/{}", getppid(), descriptor), problem);
  if (problem) return false;
  const std::string_view name = target.native();
  return name.rfind("/dev/pts/", 0) == 0 || name.rfind("/dev/tty", 0) == 0;
}

bool wants_colour(bool launched) {
  const char* refused = std::getenv("NO_COLOR");
  if (refused != nullptr && *refused != '\0') return false;
  if (isatty(STDOUT_FILENO) == 0) return false;
  return !launched || launcher_has_terminal(STDOUT_FILENO);
}

ProgressForm progress_form(bool tells, bool asked_for) {
  if (!tells) return ProgressForm::kNone;
  if (!asked_for && table_is_watched()) return ProgressForm::kWithTable;
  const bool watched = asked_for || isatty(STDERR_FILENO) != 0 || launcher_has_terminal(STDERR_FILENO);
  return watched ? ProgressForm::kOneLine : ProgressForm::kLog;
}

Progress::Progress(ProgressForm form) : form_(form), next_(form == ProgressForm::kLog ? now() + interval_of(form) : 0) {
  has_ended = false;
}

bool Progress::is_due() const { return form_ != ProgressForm::kNone && now() >= next_; }

void Progress::show(std::string_view text) {
  if (form_ == ProgressForm::kNone || has_ended) return;
  next_ = now() + interval_of(form_);
  if (form_ == ProgressForm::kLog) {
    fmt::print(stderr, "fabricbench: progress: {}\n", text);
    std::fflush(stderr);
    return;
  }
  stream = form_ == ProgressForm::kWithTable ? stdout : stderr;
  overwrite(fmt::format("\r# {:{}}", text, width.load()));
  width = text.size();
}

void Progress::clear() { clear_line(); }

void end_progress() {
  has_ended = true;
  clear_line();
}

}  // namespace fabricbench
