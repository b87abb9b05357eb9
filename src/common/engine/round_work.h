#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/engine/engine.h"
#include "common/engine/pair_plan.h"
#include "common/engine/round_report.h"
#include "common/engine/stage.h"
#include "common/measure/totals.h"

namespace fabricbench {

/// Throws UsageError if the options cannot be used in rounds.
void check_rounds(const PairPlan& plan, const Options& options);

/// Measures pairs in rounds, one after the other, each with its own set-up; the rows of all rounds make one report. The
/// first process of the job has the outputs, and is the first process of the first round.
class RoundWork final : public Work {
 public:
  /// `test` and `sessions` must outlive it.
  RoundWork(Job& job, Members members, PairPlan plan, Test& test, const Sessions& sessions);

  [[nodiscard]] bool has_rests() const override { return true; }
  /// Of the first round.
  void set_up(Outputs& outputs) override;
  [[nodiscard]] Context make_context() override;
  [[nodiscard]] Ending measure(const Context& context) override;

 private:
  void set_up_round(const std::vector<int>& round);
  void set_up_later_round(const std::vector<int>& round);
  void open_stage();
  void run_round(const Context& context);
  void measure_round(const Context& context);
  void describe_all_pairs(const std::vector<LocalPort>& ports, Context& context) const;
  [[nodiscard]] std::vector<RankFacts> describe_on_gpus() const;
  [[nodiscard]] const std::string& host_of(int rank) const;
  [[nodiscard]] bool has_outputs() const { return is_first_ && world().is_root(); }
  void break_off(const Ending& ending);
  void take(const RoundReport& report);
  [[nodiscard]] Ending whole_ending(const Context& context);

  PairPlan plan_;
  Test& test_;
  const Sessions& sessions_;
  Placed placed_;
  std::optional<FailureNotice> failure_notice_;
  Outputs* outputs_ = nullptr;  // of the run

  // The current round:
  std::vector<int> round_;  // its pairs
  bool is_first_ = true;
  std::optional<mpi::Communicator> processes_;  // empty on a process that is in none of its pairs
  RoundReport report_;
  std::optional<Outputs> relay_;
  std::optional<Setup> setup_;
  std::unique_ptr<Stage> stage_;

  // On the first process:
  std::optional<Totals> totals_;
  StageEnding whole_;
  std::vector<RankFacts> on_gpus_;
  std::vector<std::string> known_notices_;
  std::vector<std::string> later_notices_;
  std::mutex breaking_off_;
  bool has_broken_off_ = false;
};

}  // namespace fabricbench
