#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "common/core/handle.h"

namespace fabricbench {

/// A file that results go to. Whole pieces are written and flushed at once, so what is there is valid even if
/// the program is killed; a piece that cannot be written ends the program (the disk is full, say).
class OutputFile {
 public:
  /// Makes the file at `path`. Throws UsageError where it exists and `force` is not given, or cannot be made.
  OutputFile(std::string path, bool force);
  /// Writes to standard output.
  [[nodiscard]] static OutputFile standard_output();

  void write(std::string_view text);

 private:
  OutputFile() = default;

  std::string path_ = "standard output";
  Handle<std::FILE, &std::fclose> owned_;
  std::FILE* file_ = stdout;
};

}  // namespace fabricbench
