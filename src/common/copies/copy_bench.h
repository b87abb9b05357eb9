#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "common/copies/copy_setup.h"
#include "common/core/samples.h"
#include "common/record/copy_row.h"
#include "common/watch/watchdog.h"

namespace fabricbench {

/// Measures the copies of a host one after the other, across its processes, so that none disturbs another. All hosts
/// measure at the same time. An epoch visits every copy once, in random order.
class CopyBench {
 public:
  /// Does not own what it is given.
  CopyBench(const mpi::Communicator& world, const CopySetup& setup, gpu::GpuCopies* copies, Heartbeat& heartbeat,
            std::uint64_t seed);

  /// Measures everything. Collective. Returns the rows of this process's copies, and hands them to `after_epoch` after
  /// each epoch but the last, as far as they are known then. Throws Error, on one process only, that says which copy
  /// failed.
  [[nodiscard]] std::vector<CopyRow> measure_copies(
      const std::function<void(const std::vector<CopyRow>& rows)>& after_epoch);

 private:
  struct Subject;

  void run_epoch(std::vector<Subject>& subjects);
  void try_visit(Subject& subject);
  void visit(Subject& subject);
  void plan(Subject& subject);
  void check(Subject& subject);
  void add_times(Subject& subject, const std::vector<std::vector<Seconds>>& times) const;
  [[nodiscard]] std::vector<CopyRow> rows_of(const std::vector<Subject>& subjects) const;
  [[nodiscard]] CopyRow conclude(const Subject& subject) const;
  [[nodiscard]] std::string describe(const SizedCopy& which) const;

  const CopySetup& setup_;
  const Options& options_;
  gpu::GpuCopies* copies_;  // null if this process has no copies of its own
  Heartbeat& heartbeat_;
  std::mt19937_64 random_;
  std::size_t first_ = 0;  // place of this process's first copy among those of its host
  std::size_t all_ = 0;    // the copies of this host
  std::size_t most_ = 0;   // the copies of the host with the most
};

}  // namespace fabricbench
