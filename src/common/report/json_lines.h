#pragma once

#include "common/report/output_file.h"
#include "common/report/sink.h"
#include "common/report/sweep_facts.h"

namespace fabricbench {

/// Writes one JSON object a line: context, epochs, rows and end, each with its `kind`. A line is written
/// whole and flushed, so the file is valid at any moment. docs/output.md documents every key, and
/// docs/output.schema.json is their schema.
class JsonLinesSink final : public Sink {
 public:
  explicit JsonLinesSink(OutputFile output) : output_(std::move(output)) {}

  void begin(const Context& context) override;
  void epoch(const EpochRecord& record) override;
  void row(const Row& row) override;
  void copied(const CopyRow& row) override;
  void connected(const ConnectRow& row) override;
  void reading(const PairReading& reading) override;
  void endpoint(const EndpointSummary& summary) override;
  void planned(const SweepRound& round) override;
  void verdict(const SweepVerdict& verdict) override;
  void silent(const SilentEndpoints& endpoints) override;
  void end(const Ending& ending) override;
  void abandon(const Ending& ending) override { end(ending); }

 private:
  OutputFile output_;
  bool samples_ = false;
  SweepFacts sweep_;
};

}  // namespace fabricbench
