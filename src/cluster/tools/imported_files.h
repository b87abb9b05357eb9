// Results of other tools, from files and folders to the records of a sweep.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cluster/import/import.h"
#include "common/record/reading.h"

namespace fabricbench::cluster {

/// The import options of the command line.
struct ImportRequest {
  std::optional<ImportKind> kind;  ///< nothing: each file is recognised
  double unit = 0;                 ///< bytes per second of the value 1, if files do not name the unit; 0: not given
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
  std::vector<std::string> notices;  ///< for people: places that were not understood or left out
};

/// The kind of an option's value; nothing for `auto`. Throws UsageError.
[[nodiscard]] std::optional<ImportKind> parse_import_kind(const std::string& text);

/// Bytes per second of 1 of an option's value such as `Gb/s`. Throws UsageError.
[[nodiscard]] double parse_rate_unit(const std::string& text);

/// Reads files, and all of a folder. Throws Error: with kMissing where one cannot be read, with kUsage where one is
/// clearly of another kind than asked for or its unit is not clear, and with kNotJudged where nothing in a file that is
/// named, or in any of a folder, was understood.
[[nodiscard]] ImportedFiles import_files(const std::vector<std::string>& paths, const ImportRequest& request);

/// Takes records of what was imported: first all hosts, then each reading.
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

/// A hint for a file that is no file of records: how to read it, `; ...`; empty where nothing recognises it.
[[nodiscard]] std::string import_hint(const std::string& path);

}  // namespace fabricbench::cluster
