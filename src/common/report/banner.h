#pragma once

#include <cstddef>
#include <ctime>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/core/options.h"
#include "common/record/context.h"
#include "common/record/row.h"
#include "common/report/output_file.h"
#include "common/report/sink.h"

namespace fabricbench {

/// What tables share: lines marked with `#`, each text of whole lines or empty, and at the end some fields.

/// The program and its version.
[[nodiscard]] std::string starting_lines(const Context& context);
[[nodiscard]] std::string backend_lines(const Context& context);
/// The lines on backend and method. `meaning`: one clause that defines the times.
[[nodiscard]] std::string method_lines(const Context& context, std::string_view meaning);
[[nodiscard]] std::string device_lines(const Context& context);
[[nodiscard]] std::string notice_lines(const Context& context);

/// `rank 0 of host a -> rank 4 of host b`, with the ports if they are known: `rank 0 of host a (mlx5_0 port 1) -> rank
/// 4 of host b (mlx5_1 port 1)`.
[[nodiscard]] std::string pair_text(const Context& context, int pair);
/// Names a group, or a pair if the rows are about pairs.
[[nodiscard]] std::string group_line(const Context& context, int group);
/// Above the first row that is cut short.
inline constexpr std::string_view kCutShortLine =
    "# Cut short: the rows below are of the epochs that were finished, or without one of an estimate; they are less "
    "precise\n";
/// The last line of a run that ended early; empty if it had not begun.
[[nodiscard]] std::string ended_early_line(const Context& context, const Ending& ending);
[[nodiscard]] std::string skipped_line(const Row& row, RowKind row_kind);

/// The number of checks that found wrong data.
[[nodiscard]] std::string wrong_line(const Ending& ending);
/// Everything after the closing lines; `statistics` is the table of --stats.
[[nodiscard]] std::string concluding_lines(const Context& context, const Ending& ending, std::string_view statistics);

/// The notes that tables print: the first ones, and how many more are in the JSON file. Every rank may have one.
[[nodiscard]] std::vector<std::string> printed_notes(const Ending& ending);
/// The lines on where ranks ran; of a large job the first ones, and a count of the rest.
[[nodiscard]] std::vector<std::string> printed_processors(const Ending& ending);

/// The table of --stats: a line for each row and placement that was run, all marked with `#`. With several groups, a
/// line above each group's part.
[[nodiscard]] std::string statistics_table(const Context& context, std::span<const Row> rows);

/// The column `#wrong`.
[[nodiscard]] std::string wrong_text(const Measurement& measured);
/// The host's date and time, as -S prints them.
[[nodiscard]] std::string timestamp(std::time_t time);

/// A table that people read.
class Table : public Sink {
 public:
  explicit Table(OutputFile output) : output_(std::move(output)) {}

  void abandon(const Ending& ending) override {
    print_rest();
    output_.write(ended_early_line(context_, ending));
  }

 protected:
  /// Prints rows that have waited for others.
  virtual void print_rest() {}
  /// kCutShortLine above the first row that is cut short, else nothing.
  [[nodiscard]] std::string_view cut_short_line(bool cut_short) {
    return cut_short && !std::exchange(is_cut_short_, true) ? kCutShortLine : "";
  }

  OutputFile output_;
  Context context_;

 private:
  bool is_cut_short_ = false;
};

/// Collects the rows that several pairs report for one case, in any order.
class PairRows {
 public:
  explicit PairRows(std::size_t pairs = 1) : pairs_(pairs) {}

  /// Adds a measured row. Returns the rows of its case, by pair, if this was the last of them; else none.
  [[nodiscard]] std::vector<Row> add(Row row);
  /// Removes and returns the incomplete cases: the rows of each, by pair.
  [[nodiscard]] std::vector<std::vector<Row>> take_rest();

 private:
  std::size_t pairs_;
  std::vector<std::vector<Row>> pending_;  // one element per case
};

/// The tables that have files of their own.
[[nodiscard]] std::unique_ptr<Sink> make_pair_table(OutputFile output);
[[nodiscard]] std::unique_ptr<Sink> make_perftest_table(OutputFile output);
[[nodiscard]] std::unique_ptr<Sink> make_preflight_table(OutputFile output);
/// `colour`: whether the map uses a terminal's colours.
[[nodiscard]] std::unique_ptr<Sink> make_sweep_table(OutputFile output, bool colour);

// The tables that people read, each a sink: one for each kind of program, and perftest's for programs that read that.

/// The table that people read, of a run with this figure. `colour`: whether a sweep's map has colours.
[[nodiscard]] std::unique_ptr<Sink> make_table(RowKind row_kind, const Options& options, OutputFile output,
                                               bool colour);

}  // namespace fabricbench
