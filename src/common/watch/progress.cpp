#include "common/watch/progress.h"

#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

#include "common/core/clock.h"
#include "common/watch/terminal.h"

namespace fabricbench {
namespace {

Seconds interval_of(ProgressForm form) { return form == ProgressForm::kLog ? 10 : 0.2; }

/// Open MPI's launcher gives every process a terminal as stdout, even if its own is a file.
bool table_is_watched() { return isatty(STDOUT_FILENO) != 0 && launcher_has_terminal(STDOUT_FILENO); }

}  // namespace

ProgressForm progress_form(bool tells, bool asked_for) {
  if (!tells) return ProgressForm::kNone;
  if (!asked_for && table_is_watched()) return ProgressForm::kWithTable;
  const bool watched = asked_for || isatty(STDERR_FILENO) != 0 || launcher_has_terminal(STDERR_FILENO);
  return watched ? ProgressForm::kOneLine : ProgressForm::kLog;
}

Progress::Progress(ProgressForm form)
    : form_(form), next_(form == ProgressForm::kLog ? now() + interval_of(form) : 0) {}

bool Progress::is_due() const { return form_ != ProgressForm::kNone && now() >= next_; }

void Progress::show(std::string_view text) {
  if (form_ == ProgressForm::kNone) return;
  next_ = now() + interval_of(form_);
  if (form_ == ProgressForm::kLog) {
    fmt::print(stderr, "fabricbench: progress: {}\n", text);
    std::fflush(stderr);
  } else {
    overwrite(fmt::format("\r# {:{}}", text, width_));
    width_ = text.size();
  }
}

void Progress::clear() {
  if (width_ == 0) return;
  overwrite(fmt::format("\r{:{}}\r", "", width_ + 2));
  width_ = 0;
}

void Progress::overwrite(std::string_view line) const {
  std::FILE* const stream = form_ == ProgressForm::kWithTable ? stdout : stderr;
  fmt::print(stream, "{}", line);
  std::fflush(stream);
}

}  // namespace fabricbench
