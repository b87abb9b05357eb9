#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "common/core/options.h"
#include "common/measure/meter.h"
#include "common/measure/operation.h"
#include "common/measure/test.h"
#include "common/measure/totals.h"
#include "common/measure/workspace.h"
#include "common/nic_counters/nic_meter.h"
#include "common/ranks/team.h"
#include "common/record/row.h"
#include "common/report/sink.h"
#include "common/watch/progress.h"
#include "common/watch/watchdog.h"

namespace fabricbench {

/// Measures a list of cases: estimates their times, visits them epoch by epoch, checks every result, and passes the
/// rows to the outputs. All processes run the same code. The first process of each group keeps its samples, and all
/// processes decide together on the next step.
///
/// An epoch visits every case in random order, and starts again until it has lasted long enough: the speed of machines
/// drifts over tenths of a second, so epochs in quick succession would agree with each other and still be wrong.
class Bench {
 public:
  /// `totals`: on the job's first process, which adds every row to it; null if the sinks pass the rows to another
  /// process.
  Bench(const Team& team, const Options& options, const Test& test, Session& session, Workspace& workspace,
        Meter& meter, NicMeter& nics, Heartbeat& heartbeat, std::uint64_t seed, Outputs& outputs, Totals* totals);

  /// Measures cases of one datatype, reduction and root. Consecutive cases form rows: one case, or an out-of-place and
  /// an in-place one. Every group has the same number of cases. Collective.
  void measure_cases(const std::vector<Case>& cases);
  /// Reports a row that is not measured.
  void skip(const Row& row);
  /// Tells at once how long measuring that many cases will take, if it is long.
  void announce(std::int64_t cases) const;

 private:
  struct Subject;  // a case, its plan and its results

  void measure_in_order(std::vector<Subject>& subjects);
  void measure_interleaved(std::vector<Subject>& subjects);
  [[nodiscard]] bool is_stream() const;
  [[nodiscard]] std::string case_text(const Subject& subject) const;
  void connect(Subject& subject);
  void plan(Subject& subject);
  void fit_into_places(Subject& subject) const;
  void visit_exactly(Subject& subject, std::int64_t iterations, const std::string& place, double rest);
  void measure_epoch(std::vector<Subject>& subjects, const std::vector<std::uint8_t>& active);
  [[nodiscard]] Seconds estimate(Subject& subject);
  [[nodiscard]] Seconds longest_window() const;
  [[nodiscard]] Seconds fit_window(Subject& subject);
  void visit(Subject& subject);
  void observe(Subject& subject);
  [[nodiscard]] EpochRecord record_of(const Subject& subject, Seconds time) const;
  void keep_estimate(const Subject& subject);
  void finish_epoch(Subject& subject);
  void check_result(Subject& subject, std::int64_t starts);
  void check_if_all(Subject& subject, std::int64_t starts);
  void check_replay(Subject& subject);
  [[nodiscard]] AroundEach checks_of(Subject& subject);
  void check_alone(Subject& subject, std::int64_t operations);
  [[nodiscard]] bool is_repeated(const Case& which) const;
  [[nodiscard]] bool wants_more(const Subject& subject, std::size_t subjects) const;
  [[nodiscard]] Seconds least_epoch() const;
  void report_rows(std::vector<Subject>& subjects);
  [[nodiscard]] Measurement conclude(Subject& subject);
  void add_wrong(const Subject& subject, Measurement& measured) const;
  void add_checked_operations(const Subject& subject, Measurement& measured) const;
  void add_checked_messages(const Subject& subject, Measurement& measured) const;
  void add_checked_bits(const Subject& subject, Measurement& measured) const;
  void add_repeatable(const Subject& subject, Measurement& measured) const;
  [[nodiscard]] std::string first_of_group(const std::string& finding) const;
  [[nodiscard]] int rank_in_job(int rank) const;
  [[nodiscard]] std::vector<double> directions(const Measurement& measured) const;
  [[nodiscard]] std::vector<double> shares_of_queue_pairs(const Subject& subject) const;
  [[nodiscard]] std::vector<std::uint64_t> retransmitted_by_rank(const Subject& subject) const;
  [[nodiscard]] std::uint64_t lost_so_far() const;
  [[nodiscard]] double arrived_share(const Subject& subject, const Measurement& measured) const;
  [[nodiscard]] std::vector<Seconds> times_of_all_ranks(const std::vector<std::vector<Seconds>>& by_visit) const;
  [[nodiscard]] IdleShares idle_shares(const std::vector<double>& by_epoch) const;
  [[nodiscard]] std::string place_text(std::size_t place, std::size_t subjects, const Subject& subject) const;
  void show_planning(const Subject& subject, std::size_t place, std::size_t subjects);
  void show_progress(const std::vector<Subject>& subjects, const Subject& visited, double epoch_done);
  [[nodiscard]] Seconds share_of_epoch() const;
  void shorten_long_visits(std::vector<Subject>& subjects, const std::vector<std::size_t>& visited);
  [[nodiscard]] static std::int64_t operations_that_fit(Seconds time, Seconds each);
  [[nodiscard]] std::int64_t fitting_warmup(std::int64_t warmup, std::int64_t fitting) const;
  [[nodiscard]] std::int64_t epochs_that_fit(Seconds each) const;
  [[nodiscard]] Seconds expected_visit(Seconds each) const;
  [[nodiscard]] Seconds expected_operation(const std::vector<Subject>& subjects, std::size_t last, Bytes size) const;
  [[nodiscard]] bool is_long(const Subject& subject) const;
  void announce_long_operations(const std::vector<Subject>& subjects, std::size_t last);
  [[nodiscard]] static double times_as_long(std::span<const Subject> rest, const Case& measured);
  void announce_rest(std::span<const Subject> rest, const Case& measured, Seconds took);

  static constexpr double kFirstShare = 0.5;  // of the time budget, for the minimum number of epochs

  const Team& team_;
  const Options& options_;
  const Test& test_;
  Session& session_;
  Workspace& workspace_;
  Meter& meter_;
  NicMeter& nics_;
  Heartbeat& heartbeat_;
  std::uint64_t lost_before_ = 0;  // messages that this process lost before what is checked next
  std::mt19937_64 random_;
  Outputs& outputs_;
  Progress progress_;
  Seconds began_ = 0;  // measuring the subjects at hand
  std::int64_t epochs_planned_ = 0;
  std::size_t measured_later_ = 0;  // subjects after those at hand, with --order sequential
  bool has_announced_ = false;
  bool has_connected_ = false;
  Totals* totals_;
};

}  // namespace fabricbench
