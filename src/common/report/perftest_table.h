#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/report/output_file.h"
#include "common/report/pair_rows.h"
#include "common/report/sink.h"

namespace fabricbench {

/// Prints the table of perftest's ib_write_bw or ib_write_lat, for programs that read it: between dashed lines a title
/// that begins with ` #bytes`, then a row a size and pair, of nothing but numbers. All else that may hold a size stands
/// below the rows, since some take the first line with the size that they look for. docs/output.md describes it.
class PerftestTableSink final : public Sink {
 public:
  explicit PerftestTableSink(OutputFile output) : output_(std::move(output)) {}

  void begin(const Context& context) override;
  void record(const AnyRecord& record) override;
  void end(const Ending& ending) override;

 private:
  void add(const Row& row);
  [[nodiscard]] std::string rows_text(const std::vector<Row>& rows);

  OutputFile output_;
  Context context_;
  PairRows pending_;
  std::vector<std::string> remarks_;  // on rows: those that were skipped or lost messages
};

}  // namespace fabricbench
