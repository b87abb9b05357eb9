#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/exit_status.h"
#include "common/harness/wire_meter.h"
#include "common/report/row.h"
#include "common/report/sink.h"

namespace fabricbench {

/// What a round of pairs has to say, on its first process, for the one that has the outputs.
struct RoundReport {
  ExitStatus status = ExitStatus::kOk;  ///< of its set-up
  std::string problem;                  ///< why that is not kOk
  std::vector<std::string> notices;     ///< of its set-up
  std::vector<std::string> remarks;
  std::string memory_usage;
  WireReport wires;
  std::vector<EpochRecord> epochs;  ///< these and the rows of all rounds but the first, which has the outputs
  std::vector<Row> rows;
};

/// As bytes, for a process of the same program on a like machine.
[[nodiscard]] std::string pack(const RoundReport& report);
[[nodiscard]] RoundReport unpack_round(std::string_view packed);

/// Takes the place of the outputs in all rounds but the first, and keeps what is reported until they can have it. What
/// is skipped was reported by the first round, and is the same in all.
class RelaySink final : public Sink {
 public:
  /// `outputs`: where this process has them; else empty.
  RelaySink(RoundReport& report, const std::vector<std::unique_ptr<Sink>>& outputs)
      : report_(report), outputs_(outputs) {}
  void begin(const Context& /*context*/) override {}
  void epoch(const EpochRecord& record) override { report_.epochs.push_back(record); }
  void row(const Row& row) override {
    if (row.skipped.empty()) report_.rows.push_back(row);
  }
  void end(const Ending& /*ending*/) override {}
  void abandon(const Ending& ending) override {
    for (const auto& output : outputs_) output->abandon(ending);
  }

 private:
  RoundReport& report_;
  const std::vector<std::unique_ptr<Sink>>& outputs_;
};

}  // namespace fabricbench
