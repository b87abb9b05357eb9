#pragma once

#include <optional>
#include <utility>

#include "common/record/csv.h"
#include "common/report/output_file.h"
#include "common/report/sink.h"

namespace fabricbench {

/// Writes comma-separated values (RFC 4180): a header, then one line for each row and placement, copy, or reading. A
/// missing figure is an empty field.
class CsvSink final : public Sink {
 public:
  explicit CsvSink(OutputFile output) : output_(std::move(output)) {}

  void begin(const Context& context) override;
  void record(const AnyRecord& record) override;
  void end(const Ending& /*ending*/) override {
    output_.sync();
    output_.close();
  }
  void abandon(const Ending& /*ending*/) override { output_.close(); }

 private:
  void add(const Row& row);
  OutputFile output_;
  std::optional<record::CsvTable> table_;
};

}  // namespace fabricbench
