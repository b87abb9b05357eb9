#pragma once

#include <cstdint>
#include <string_view>

#include "common/core/units.h"

namespace fabricbench {

/// One line on stderr with the progress of the run. It is overwritten in place, and cleared before other output.
class ProgressLine {
 public:
  /// `what`: the unit of progress.
  explicit ProgressLine(bool shown, std::string_view what = "epochs") : shown_(shown), what_(what) {}

  /// Whether somebody watches: stderr is a terminal, or the launcher that forwards it has one.
  [[nodiscard]] static bool wanted();

  [[nodiscard]] bool shown() const { return shown_; }
  /// Prints at most a few times per second, however often it is called.
  void show(std::int64_t done, std::int64_t planned, Seconds left);
  void clear();

 private:
  bool shown_;
  std::string_view what_;
  bool visible_ = false;
  Seconds last_ = -1;
};

}  // namespace fabricbench
