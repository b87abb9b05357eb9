#pragma once

#include <cstdint>
#include <string_view>

#include "common/core/units.h"

namespace fabricbench {

/// One line on stderr that says how far the run is; written over and over, and cleared before other output.
class ProgressLine {
 public:
  /// `what`: is counted.
  explicit ProgressLine(bool shown, std::string_view what = "epochs") : shown_(shown), what_(what) {}

  /// Whether somebody watches: stderr is a terminal, or that of the launcher that passes ours on is.
  [[nodiscard]] static bool wanted();

  [[nodiscard]] bool shown() const { return shown_; }
  /// At most a few times a second, whatever the number of calls.
  void show(std::int64_t done, std::int64_t planned, Seconds left);
  void clear();

 private:
  bool shown_;
  std::string_view what_;
  bool visible_ = false;
  Seconds last_ = -1;
};

}  // namespace fabricbench
