#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "common/core/exit_status.h"
#include "common/nic_counters/nic_meter.h"
#include "common/record/row.h"
#include "common/report/sink.h"
#include "common/watch/process_table.h"

namespace fabricbench {

/// What a round of pairs has to say, on its first process, for the one that has the outputs.
struct RoundReport {
  std::vector<std::string> notices;  ///< of its set-up
  std::vector<std::string> remarks;
  std::string memory_usage;
  NicReport nics;
  std::vector<RankFacts> on_gpus;   ///< with GPU memory: rank, group, and what its session says of the way to that
  std::vector<EpochRecord> epochs;  ///< these and the rows of all rounds but the first, which has the outputs
  std::vector<Row> rows;
};

template <typename Form, record::Of<RoundReport> Message>
void describe(Form& form, Message& report) {
  form.hidden(report.notices, report.remarks, report.memory_usage, report.nics, report.on_gpus, report.epochs,
              report.rows);
}

/// Takes the place of the outputs in all rounds but the first, and keeps what is reported until they can have it. What
/// is skipped was reported by the first round, and is the same in all.
class RelaySink final : public Sink {
 public:
  /// `break_off` is told how the run ended, where it broke off.
  RelaySink(RoundReport& report, std::function<void(const Ending&)> break_off)
      : report_(report), break_off_(std::move(break_off)) {}
  void begin(const Context& /*context*/) override {}
  void record(const AnyRecord& record) override {
    if (const auto* epoch = record.as<EpochRecord>()) report_.epochs.push_back(*epoch);
    if (const auto* row = record.as<Row>(); row != nullptr && row->skipped.empty()) report_.rows.push_back(*row);
  }
  void end(const Ending& /*ending*/) override {}
  void abandon(const Ending& ending) override { break_off_(ending); }

 private:
  RoundReport& report_;
  std::function<void(const Ending&)> break_off_;
};

/// Tells the process that has the outputs why another one ends the job. MPI has no way to it then, as it may wait in a
/// call of MPI itself. It goes by UDP, a few times within half a second; where that does not come through, the outputs
/// end without the reason.
class FailureNotice {
 public:
  /// Collective; the first process of `world` has the outputs.
  explicit FailureNotice(const mpi::Communicator& world) : process_table_(world) {}

  /// On any process but the first. What is told is cut to 255 bytes.
  void tell(const Ending& ending);

  /// On the first process, as long as it exists: what another process tells first is handed to `write`, from a thread.
  class Listener {
   public:
    Listener(FailureNotice& words, std::function<void(const Ending&)> write);

   private:
    std::jthread thread_;
  };

 private:
  ProcessTable process_table_;
};

}  // namespace fabricbench
