#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/record/json.h"
#include "common/record/text_table.h"
#include "common/report/output_file.h"
#include "common/report/pair_rows.h"
#include "common/report/sink.h"

namespace fabricbench {

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

}  // namespace fabricbench
