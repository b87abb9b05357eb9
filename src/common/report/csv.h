#pragma once

#include "common/report/output_file.h"
#include "common/report/sink.h"
#include "common/report/sweep_facts.h"

namespace fabricbench {

/// Writes comma-separated values (RFC 4180): a header, then one line a row and placement, a copy or a reading. A figure
/// that does not exist is an empty field.
class CsvSink final : public Sink {
 public:
  explicit CsvSink(OutputFile output) : output_(std::move(output)) {}

  void begin(const Context& context) override;
  void row(const Row& row) override;
  void copied(const CopyRow& row) override;
  void reading(const PairReading& reading) override;
  void end(const Ending& /*ending*/) override {}

 private:
  OutputFile output_;
  SweepFacts sweep_;
};

}  // namespace fabricbench
