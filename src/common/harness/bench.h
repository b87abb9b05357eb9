#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "common/core/options.h"
#include "common/harness/collective.h"
#include "common/harness/meter.h"
#include "common/harness/operation.h"
#include "common/harness/progress.h"
#include "common/harness/watchdog.h"
#include "common/harness/workspace.h"
#include "common/mpi/communicator.h"
#include "common/report/row.h"
#include "common/report/sink.h"

namespace fabricbench {

/// What the runs add up to, for the closing lines. Filled in on rank 0.
struct Totals {
  std::uint64_t wrong_checks = 0;  ///< checks with a wrong element, over all ranks
  std::vector<double> busbws;
  std::vector<std::string> notes;
  std::int64_t measurements = 0;
  std::int64_t with_interval = 0;
  std::int64_t precise = 0;  ///< measurements whose interval is as narrow as asked for
  double widest = 0;         ///< the widest interval's half-width, relative
  std::string widest_case;
  std::int64_t fewest_epochs = 0;
  std::int64_t most_epochs = 0;
  std::int64_t late = 0;
  std::int64_t started_by_barrier = 0;  ///< isolated: measurements that could not start by the common clock
};

/// Runs a list of cases: estimates them, visits them epoch by epoch, checks every result, and hands the rows
/// to the sinks. All ranks run the same code; rank 0 keeps the samples and decides what is done next.
///
/// An epoch visits every case, in random order, and starts again until it has lasted long enough: machines drift over
/// tenths of a second, and epochs that follow each other faster would agree without being right.
class Bench {
 public:
  Bench(const mpi::Communicator& world, const Options& options, const Collective& collective, Backend& backend,
        Workspace& workspace, Meter& meter, Heartbeat& heartbeat, std::uint64_t seed,
        std::vector<std::unique_ptr<Sink>>& sinks);

  /// Measures the cases, which are of one datatype, reduction and root: pairs of them, or single ones, make up
  /// rows in the order given. Collective.
  void run(const std::vector<Case>& cases);

  [[nodiscard]] const Totals& totals() const { return totals_; }

 private:
  struct Subject;  // a case, how it is measured, and what was measured of it

  void measure_in_order(std::vector<Subject>& subjects);
  void measure_interleaved(std::vector<Subject>& subjects);
  void plan(Subject& subject);
  void measure_epoch(std::vector<Subject>& subjects, const std::vector<std::uint8_t>& active);
  void visit(Subject& subject);
  void finish_epoch(Subject& subject);
  void check_result(Subject& subject, std::int64_t starts);
  void check_extra(Subject& subject);
  [[nodiscard]] bool wants_more(const Subject& subject, std::size_t subjects) const;
  [[nodiscard]] Seconds least_epoch() const;
  void report_rows(std::vector<Subject>& subjects);
  [[nodiscard]] Measurement conclude(Subject& subject);
  void note_wrong(const Subject& subject, std::uint64_t wrong);
  void add_to_totals(const Subject& subject, const Measurement& measured);
  void show_progress(const std::vector<Subject>& subjects, std::int64_t epochs_planned, Seconds began);

  const mpi::Communicator& world_;
  const Options& options_;
  const Collective& collective_;
  Backend& backend_;
  Workspace& workspace_;
  Meter& meter_;
  Heartbeat& heartbeat_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<Sink>>& sinks_;
  ProgressLine progress_;
  Totals totals_;
};

/// One line on how precise the figures are.
[[nodiscard]] std::string precision_line(const Totals& totals, const Options& options);

}  // namespace fabricbench
