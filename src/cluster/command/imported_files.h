// Converts files and folders with other tools' results to the records of a sweep.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cluster/import/import.h"
#include "common/record/reading.h"

namespace fabricbench::cluster {

/// The import settings of the command line.
struct ImportRequest {
  std::optional<ImportKind> kind;  ///< empty: recognised for each file
  double unit = 0;                 ///< bytes per second in one unit, for files without a unit; 0: not given
};

/// The contents of all files.
struct ImportedFiles {
  struct File {
    std::string name;
    ImportKind kind;
    Imported found;
  };
  std::vector<File> files;
  std::vector<std::string> records;  ///< files that are our own records, to be read as such
  std::vector<std::string> notices;  ///< for readers: skipped or unreadable parts, and their files
  std::int64_t not_understood = 0;   ///< number of files that should have a result, and have none that was understood
};

/// The kind for an option's value; empty for `auto`. Throws UsageError.
[[nodiscard]] std::optional<ImportKind> parse_import_kind(const std::string& text);

/// The unit in bytes per second for an option's value such as `Gb/s`. Throws UsageError.
[[nodiscard]] double parse_rate_unit(const std::string& text);

/// Reads files, and all files of a folder. Throws Error: kMissing if a file cannot be read, kUsage if a named file is
/// clearly of another kind than given or a unit is ambiguous, and kNotJudged if no file contains anything usable.
/// A file without a result is one that was not understood, unless another file has results of its pair.
[[nodiscard]] ImportedFiles import_files(const std::vector<std::string>& paths, const ImportRequest& request);

/// Receives the imported records: first all hosts, then each reading.
struct RecordTaker {
  std::function<void(const SweepStart&)> start;
  std::function<void(const RecordedReading&)> reading;
};
void give_records(const ImportedFiles& imported, const RecordTaker& take);

/// The same, with one function for both.
template <typename Take>
void for_each_record(const ImportedFiles& imported, const Take& take) {
  give_records(imported, {take, take});
}

/// A hint how to read a file that has no records: `; ...`; empty if no importer recognises it.
[[nodiscard]] std::string import_hint(const std::string& path);

}  // namespace fabricbench::cluster
