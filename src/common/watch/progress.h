#pragma once

#include <cstddef>
#include <string_view>

#include "common/core/units.h"

namespace fabricbench {

/// How a process tells of its progress.
enum class ProgressForm {
  kNone,
  kOneLine,    ///< somebody watches stderr: one line, which is overwritten in place and cleared before other output
  kWithTable,  ///< the same on stdout, where somebody watches the table, which a launcher forwards in order
  kLog,        ///< a new line on stderr every ten seconds
};

/// `tells`: whether this process speaks for the job. `asked_for`: by --progress. One line if stdout or stderr is a
/// terminal, or if the launcher that forwards it has one.
[[nodiscard]] ProgressForm progress_form(bool tells, bool asked_for);

/// The progress of the run.
class Progress {
 public:
  explicit Progress(ProgressForm form);

  [[nodiscard]] ProgressForm form() const { return form_; }
  /// Whether enough time has passed since the last line.
  [[nodiscard]] bool is_due() const;
  /// Writes a line, whether or not it is due.
  void show(std::string_view text);
  void clear();

 private:
  ProgressForm form_;
  Seconds next_;
};

/// Takes away the line that stands, and shows no other, before the last lines of a run, which any thread may write.
void end_progress();

}  // namespace fabricbench
