#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "common/core/handle.h"

namespace fabricbench {

/// Whether two paths lead to one file, which need not exist.
[[nodiscard]] bool same_file(const std::string& path, const std::string& other);

/// An output file for results. Each piece is written and flushed at once, so the file stays valid even if the program
/// is killed. A failed write, such as on a full disk, ends the program.
class OutputFile {
 public:
  /// Creates the file at `path`. Throws UsageError if it exists and `force` is not given, or if it cannot be created.
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
