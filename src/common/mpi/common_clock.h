#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "common/core/units.h"
#include "common/mpi/communicator.h"

namespace fabricbench::mpi {

/// The relation between this rank's clock and rank 0's at one moment.
struct ClockReading {
  Seconds local;   ///< this rank's clock
  Seconds offset;  ///< lead of rank 0's clock
  Seconds error;   ///< error bound: half the shortest round trip, summed along the tree
};

/// Maps this rank's clock to rank 0's. Ranks of one clock domain (a running kernel, usually a host) read the same
/// clock. One leader per domain is synchronised along a binomial tree: in each of log2(leaders) rounds, leaders that
/// know the time exchange 20 ping-pongs with one that does not, and the shortest round trip counts (Cristian, 1989;
/// tree after HCA3 of Hunold and Carpen-Amarie, CLUSTER 2018).
class CommonClock {
 public:
  using Clock = std::function<Seconds()>;

  /// Collective over `world`, which must outlive this. Equal `domain`s share `clock`.
  CommonClock(const Communicator& world, std::uint64_t domain, Clock clock);

  /// Takes a reading; collective. No messages if all ranks share one clock.
  void synchronise();

  /// Rank 0's time when this rank's clock shows `local`. Up to the last reading it is interpolated between the last
  /// two; after that it uses the drift measured so far.
  [[nodiscard]] Seconds to_common(Seconds local) const;
  /// The inverse of `to_common` after the last reading.
  [[nodiscard]] Seconds to_local(Seconds common) const;

  /// The error bound of this rank's last reading; 0 on rank 0's host.
  [[nodiscard]] Seconds error() const { return last_.error; }
  [[nodiscard]] bool shared() const { return domains_ == 1; }

 private:
  [[nodiscard]] ClockReading read_from(int parent) const;
  void serve(int child, const ClockReading& own) const;

  Clock clock_;
  int domains_ = 1;
  std::optional<Communicator> domain_;   // the ranks that share this clock
  std::optional<Communicator> leaders_;  // the first rank of each domain; empty on other ranks
  ClockReading before_{0, 0, 0};         // the last reading but one
  ClockReading last_{0, 0, 0};
  std::vector<ClockReading> history_;  // some of the readings, far enough apart to show the drift
  double drift_ = 0;                   // seconds of offset per second
};

/// Seconds of offset gained per second of local time: the slope through the two readings whose errors, relative to the
/// time between them, bound it most tightly. 0 until readings span half a second, because noise outweighs drift over
/// less. Also 0 if its error may be a third or more, as on a busy machine: real clocks drift by less than that.
[[nodiscard]] double drift_of(const std::vector<ClockReading>& readings);

}  // namespace fabricbench::mpi
