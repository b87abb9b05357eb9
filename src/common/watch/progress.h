#pragma once

#include <string_view>

#include "common/core/units.h"

namespace fabricbench {

/// Whether the launcher has a terminal as its own `descriptor`. False if the launcher is not this process's parent.
[[nodiscard]] bool launcher_has_terminal(int descriptor);

/// Whether standard output may have colours: it is a terminal, and NO_COLOR (https://no-color.org) is not set. Open
/// MPI's launcher gives every process a terminal even if its own output goes to a file. So if the process was
/// `launched`, its parent's standard output must be a terminal too. If the launcher is not its parent, that is unknown,
/// and there are no colours.
[[nodiscard]] bool wants_colour(bool launched);

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
