// The table of nccl-tests 2.0 to 2.19, of rccl-tests and of our collectives. Versions, collectives and options differ
// in their columns, so that each is found by its title.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fabricbench::cluster {

/// The figures of one placement; nothing where it was not run.
struct NcclFigures {
  bool in_place = false;
  std::optional<double> time_us;  ///< nothing also where the column is `cputime`, which is the host's
  std::optional<double> algbw;    ///< GB/s of 10^9 bytes, of the operation's time even beside `cputime`
  std::optional<double> busbw;    ///< GB/s
  std::string_view wrong;         ///< elements, as printed; empty: none, not checked, or not told (`error`)
};

/// Its texts are parts of the line.
struct NcclTableRow {
  std::int64_t size = 0;
  std::int64_t count = 0;
  std::string_view type;
  std::string_view redop;  ///< empty: none
  std::optional<std::int64_t> root;
  std::vector<NcclFigures> placements;  ///< in the order of the columns
};

/// Reads the lines of one run in turn.
class NcclTable {
 public:
  /// Takes a comment; remembers the columns if it names them.
  void take_comment(std::string_view line);
  [[nodiscard]] bool has_titles() const { return !titles_.empty(); }
  /// Whether a line stands where a row does: it begins with a number, below titles, and is none that rccl-tests
  /// skipped.
  [[nodiscard]] bool is_row(std::string_view line) const;
  /// Nothing where a value is missing, is none of its column, or stands for no title.
  [[nodiscard]] std::optional<NcclTableRow> row(std::string_view line) const;

 private:
  [[nodiscard]] std::vector<std::string_view> cells(std::string_view line) const;

  std::vector<std::string> titles_;
  std::vector<bool> in_place_;       // of each group of figures below the titles
  std::vector<bool> next_in_place_;  // of titles that are still to come
};

}  // namespace fabricbench::cluster
