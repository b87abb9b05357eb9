#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/engine/engine.h"
#include "common/engine/pair_plan.h"
#include "common/engine/prepared_run.h"
#include "common/measure/totals.h"
#include "common/record/row.h"
#include "common/report/sink.h"
#include "common/watch/process_table.h"

namespace fabricbench {

/// The results of a round of pairs, which its first process sends to the process that has the outputs.
struct RoundReport {
  std::vector<std::string> notices;  ///< of the round's set-up
  RunFacts facts;
  std::vector<RankFacts> on_gpus;   ///< RDMA with GPU memory: rank, group, and the session's facts about its path
  std::vector<EpochRecord> epochs;  ///< empty in the first round, as are the rows: they go to the outputs directly
  std::vector<Row> rows;
};

template <typename Visitor, record::Of<RoundReport> Message>
void describe(Visitor& visitor, Message& report) {
  visitor.internal(report.notices, report.facts, report.on_gpus, report.epochs, report.rows);
}

/// Replaces the outputs in all rounds but the first, and keeps the records until the process that has the outputs can
/// take them. Drops skipped rows, because the first round has reported the same ones.
class RelaySink final : public Sink {
 public:
  /// `break_off` is called with the ending if the run ends early.
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

/// Tells the process that has the outputs why another process ends the job. MPI cannot carry this notice, because the
/// receiver may be waiting in a call of MPI. It is sent by UDP a few times within half a second; if it does not arrive,
/// the outputs end without the reason.
class FailureNotice {
 public:
  /// Collective; the first process of `world` has the outputs.
  explicit FailureNotice(const mpi::Communicator& world) : process_table_(world) {}

  /// Called on any process but the first. The reason is cut to 255 bytes.
  void tell(const Ending& ending);

  /// For the first process: while this object exists, its thread passes the first notice that arrives to `write`.
  class Listener {
   public:
    Listener(FailureNotice& words, std::function<void(const Ending&)> write);

   private:
    std::jthread thread_;
  };

 private:
  ProcessTable process_table_;
};

/// Throws UsageError if the options cannot be used in rounds.
void check_rounds(const PairPlan& plan, const Options& options);

/// Measures pairs in rounds, one after the other, each with its own set-up; the rows of all rounds make one report. The
/// first process of the job has the outputs, and is the first process of the first round. `test` and `sessions` must
/// outlive it.
[[nodiscard]] std::unique_ptr<Work> make_round_work(Job& job, ActiveProcesses active, PairPlan plan, Test& test,
                                                    const Sessions& sessions);

}  // namespace fabricbench
