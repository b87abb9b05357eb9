#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/report/output_file.h"
#include "common/report/pair_rows.h"
#include "common/report/sink.h"

namespace fabricbench {

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

}  // namespace fabricbench
