#pragma once

#include <ctime>
#include <string>
#include <vector>

#include "common/report/output_file.h"
#include "common/report/sink.h"

namespace fabricbench {

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

/// The column `#wrong`.
[[nodiscard]] std::string wrong_text(const Measurement& measured);
/// The host's date and time, as -S prints them.
[[nodiscard]] std::string timestamp(std::time_t time);

}  // namespace fabricbench
