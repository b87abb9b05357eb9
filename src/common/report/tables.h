// The tables that people read, each a sink: one for each kind of program, and perftest's for programs that read that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/core/options.h"
#include "common/record/columns.h"
#include "common/record/context.h"
#include "common/record/json.h"
#include "common/record/row.h"
#include "common/record/sweep_plan.h"
#include "common/report/output_file.h"
#include "common/report/sink.h"
#include "common/report/sweep_facts.h"

namespace fabricbench {

/// The table that people read, of a run with this figure. `colour`: whether a sweep's map has colours.
[[nodiscard]] std::unique_ptr<Sink> make_table(Figure figure, const Options& options, OutputFile output, bool colour);

/// Prints the table of nccl-tests 2.19 byte for byte: 13 fields per row, and two closing lines with `Out of bounds
/// values` and `Avg bus bandwidth`. All other lines are marked with `#` and avoid the words that parsers look for
/// (docs/output.md).
class TableSink final : public Sink {
 public:
  explicit TableSink(OutputFile output) : output_(std::move(output)) {}

  void begin(const Context& context) override;
  void record(const AnyRecord& record) override;
  void end(const Ending& ending) override;
  void abandon(const Ending& ending) override;

 private:
  void add(const Row& row);
  OutputFile output_;
  Context context_;
  int group_shown_ = -1;
  bool is_cut_short_ = false;
  std::vector<Row> rows_;  // kept only if --stats will print them
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

/// Writes the table of programs that send messages between two ranks: a row for each size and pair, and all other lines
/// marked with `#`. With several pairs, the rows of one size are grouped in whatever order they arrive, and a line
/// below them summarises the pairs. A closing line names the pair that was slowest most often. docs/output.md describes
/// the table.
class PairTableSink final : public Sink {
 public:
  explicit PairTableSink(OutputFile output) : output_(std::move(output)) {}

  void begin(const Context& context) override;
  void record(const AnyRecord& record) override;
  void end(const Ending& ending) override;
  void abandon(const Ending& ending) override;

 private:
  void add(const Row& row);
  void print(const std::vector<Row>& rows);
  [[nodiscard]] record::Json share_of_port_rate(const Row& row);
  [[nodiscard]] std::string row_line(const Row& row);
  [[nodiscard]] std::string slowest_pair_line() const;
  [[nodiscard]] std::string statistics();

  OutputFile output_;
  Context context_;
  std::optional<record::TextTable> table_;  // from the beginning on
  PairRows pending_;
  bool is_cut_short_ = false;
  std::map<int, int> times_slowest_;  // by pair
  std::set<int> with_wrong_rate_;     // pairs that were faster than their ports' rate
  int cases_ = 0;                     // cases that several pairs have reported
  std::vector<Row> rows_;             // kept only if --stats will print them
};

/// Prints the table of perftest's ib_write_bw or ib_write_lat, for programs that read it: dashed lines around a title
/// that begins with ` #bytes`, and a row of numbers for each size and pair. Other lines that may contain a size come
/// below the rows, because some programs take the first line with the size they look for. docs/output.md describes the
/// table.
class PerftestTableSink final : public Sink {
 public:
  explicit PerftestTableSink(OutputFile output) : output_(std::move(output)) {}

  void begin(const Context& context) override;
  void record(const AnyRecord& record) override;
  void end(const Ending& ending) override;
  void abandon(const Ending& ending) override;

 private:
  void add(const Row& row);
  [[nodiscard]] std::string rows_text(const std::vector<Row>& rows);

  OutputFile output_;
  Context context_;
  PairRows pending_;
  bool is_cut_short_ = false;
  std::vector<std::string> remarks_;  // on rows that were skipped or lost messages
};

/// Prints the results of a sweep over pairs: a line for every failed reading as soon as it fails, and at the end a row
/// per endpoint, the drawn matrix, and a summary of all readings. Every line but the rows is marked with `#`.
/// docs/output.md describes it. It keeps O(N) data for N endpoints.
class SweepTableSink final : public Sink {
 public:
  /// `colour`: whether the map uses a terminal's colours.
  SweepTableSink(OutputFile output, bool colour) : output_(std::move(output)), colour_(colour) {}

  void begin(const Context& context) override;
  void record(const AnyRecord& record) override;
  void end(const Ending& ending) override;
  void abandon(const Ending& ending) override;

 private:
  void add(const PairReading& reading);
  [[nodiscard]] const std::string& name(int endpoint) const { return names_[static_cast<std::size_t>(endpoint)]; }
  [[nodiscard]] std::string trouble_lines(const PairReading& reading);
  [[nodiscard]] std::string table() const;
  [[nodiscard]] std::string map() const;
  [[nodiscard]] std::string closing_lines() const;
  [[nodiscard]] std::string readings_line() const;
  [[nodiscard]] std::string verdict_lines() const;
  [[nodiscard]] std::string slowest_endpoint_line() const;

  OutputFile output_;
  bool colour_;
  Context context_;
  std::vector<std::string> names_;          // of the endpoints
  std::vector<std::int64_t> trouble_;       // by endpoint: number of failed readings
  std::int64_t trouble_shown_ = 0;          // lines printed for them
  std::int64_t failed_ = 0;                 // failed readings
  RunningMedian bandwidths_;                // of successful readings
  RunningMedian latencies_;                 // of successful readings
  std::optional<PairReading> slowest_;      // of successful readings
  std::vector<EndpointSummary> summaries_;  // by endpoint
  std::vector<MatrixRow> receivers_;        // kept only if the map can be drawn
  std::optional<SweepVerdict> verdict_;     // only if rounds are planned
};

/// Prints copies: a row for each, GPU by GPU, and all other lines marked with `#`.
class CopyTableSink final : public Sink {
 public:
  explicit CopyTableSink(OutputFile output);

  void begin(const Context& context) override;
  void record(const AnyRecord& record) override;
  void end(const Ending& ending) override;
  void abandon(const Ending& ending) override;

 private:
  void add(const CopyRow& row);
  void note_status(const std::string& host, const CopyGpu& gpu, OutlierStatus status);
  [[nodiscard]] std::string odd_line() const;

  OutputFile output_;
  record::TextTable table_;
  Context context_;
  std::vector<std::string> odd_;  // names of GPUs that are slower than others
  bool is_cut_short_ = false;
  bool compared_ = false;
  bool undecided_ = false;
};

/// Prints connections: a row for each pair and step, and all other lines marked with `#`.
class ConnectTableSink final : public Sink {
 public:
  explicit ConnectTableSink(OutputFile output);

  void begin(const Context& context) override;
  void record(const AnyRecord& record) override;
  void end(const Ending& ending) override;
  void abandon(const Ending& ending) override;

 private:
  OutputFile output_;
  record::TextTable table_;
  Context context_;
};

}  // namespace fabricbench
