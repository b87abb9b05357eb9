#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/report/output_file.h"
#include "common/report/sink.h"

namespace fabricbench {

/// Writes the matrix of a sweep over pairs as CSV (RFC 4180): a header with the senders' names, then a line per
/// receiver with its name and the bandwidth from each sender in GB/s. A field is empty if nothing was measured, and 0
/// if the measurement failed.
class MatrixCsvSink final : public Sink {
 public:
  explicit MatrixCsvSink(OutputFile output) : output_(std::move(output)) {}

  void begin(const Context& context) override;
  void record(const AnyRecord& record) override;
  void end(const Ending& /*ending*/) override {
    output_.sync();
    output_.close();
  }
  void abandon(const Ending& /*ending*/) override { output_.close(); }

 private:
  OutputFile output_;
  std::vector<std::string> names_;  // of the endpoints
};

}  // namespace fabricbench
