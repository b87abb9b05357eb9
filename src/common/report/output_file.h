#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "common/core/ownership.h"

namespace fabricbench {

/// Whether two paths lead to one file, which need not exist.
[[nodiscard]] bool same_file(const std::string& path, const std::string& other);

/// Whether what a launcher passes on of this process's standard output goes to a full disk, of which the launcher does
/// not tell. Of a launcher on another host, or one that keeps what it does to itself, this is not known: false.
[[nodiscard]] bool is_launchers_output_full();

/// An output file for results. Each piece is written at once, so the file stays valid even if the program is killed.
/// All functions throw Error (failure) with the path and the reason if the file system or its quota is full, or cannot
/// be reached.
class OutputFile {
 public:
  /// Creates the file at `path`. Throws UsageError if it exists and `force` is not given, or if it cannot be created.
  /// With `force` a new file takes the name: two runs never write the same one.
  OutputFile(std::string path, bool force);
  /// Writes to standard output.
  [[nodiscard]] static OutputFile standard_output();
  /// Writes to standard error.
  [[nodiscard]] static OutputFile standard_error();

  /// Writes all of `text`, or nothing: what a failed call has written to a regular file is taken back.
  void write(std::string_view text);
  /// Waits until the storage has what was written. Does nothing for what is no regular file. Throws if the file was
  /// removed or replaced since it was opened: then nobody will read it.
  void sync();
  /// Closes the file: some file systems report a lost write only then. Nothing can be written any more.
  void close();

 private:
  OutputFile() = default;

  [[noreturn]] void refuse() const;
  [[nodiscard]] bool has_name() const;

  std::string path_ = "standard output";
  Handle<std::FILE, &std::fclose> owned_;
  off_t written_ = 0;      // bytes
  bool had_name_ = false;  // when it was opened
  std::FILE* file_ = stdout;
};

}  // namespace fabricbench
