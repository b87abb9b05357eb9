// A simulated fabric: what hosts behind leaf and spine switches measure of each other, with faults where they were put.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/pairs/readings.h"
#include "cluster/pairs/verdict.h"
#include "common/core/schedule.h"

namespace fabricbench::cluster {

enum class FaultKind : std::uint8_t {
  kHost,      ///< all rails of a host
  kNic,       ///< one rail of a host
  kPair,      ///< the path between two hosts, on all rails
  kLeaf,      ///< the uplinks of a leaf to all spines
  kLeafPair,  ///< the path between two leaves, through any spine
  kSpine,     ///< the uplink of a leaf to one spine, which affects flows that are hashed onto it
  kRail,      ///< one rail of all hosts
  kDead,      ///< a host with which every measurement fails
  kDeadPair,  ///< two hosts that cannot measure each other
  kFlapping   ///< a host that is slow in some meetings, with any partner
};

/// A fault of the fabric.
struct Fault {
  FaultKind kind = FaultKind::kHost;
  std::int32_t place = 0;  ///< a host, a leaf, or of kRail a rail
  std::int32_t other = 0;  ///< the other host or leaf of a pair, the rail of kNic, the spine of kSpine
  double factor = 1;       ///< rate over that of healthy ones
  Direction direction = Direction::kBoth;
  double share = 0.3;  ///< of kFlapping: share of slow meetings
};

/// Reads a fault, as the command line has it:
///   host:H:FACTOR  nic:H:RAIL:FACTOR  pair:H:H:FACTOR  leaf:L:FACTOR  leaf-pair:L:L:FACTOR  spine:L:S:FACTOR
///   rail:R:FACTOR  dead:H  dead-pair:H:H  flapping:H:FACTOR:SHARE
/// with `:sends` or `:receives` at the end of host, nic, pair, leaf and leaf-pair for one direction. Throws
/// std::invalid_argument, which says what is wrong with it.
[[nodiscard]] Fault parse_fault(std::string_view text);

/// The plan of a fabric.
struct FabricPlan {
  std::int32_t hosts = 16;
  std::int32_t leaf_size = 0;  ///< hosts behind each leaf; 0: one leaf for all
  std::int32_t spines = 4;
  std::int32_t rails = 1;
  double rate = 25e9;           ///< bytes per second of a healthy NIC in each direction
  double sigma = 0.01;          ///< standard deviation of the logarithm of readings
  double outliers = 0.01;       ///< share of readings that are slow by chance
  double outlier_factor = 0.8;  ///< their rate over the rate of others
  double spread = 0;            ///< standard deviation of the logarithm of healthy hosts' rates
  double drift = 0;             ///< amplitude of the drift of all rates, as a share
  double oversubscription = 1;  ///< rate of a leaf's hosts together over the rate of its uplinks
  double crossing = 1;          ///< rate between leaves over the rate within a leaf, without other traffic
  bool collisions = false;      ///< flows are hashed onto uplinks (ECMP) instead of shared evenly
  double missing = 0;           ///< share of meetings that fail by chance
  bool leaves_known = true;     ///< whether the sweep has a locality
  bool both_ways = false;       ///< whether a meeting has one reading of both directions together
  std::uint64_t seed = 0;
  std::vector<Fault> faults;
};

/// Simulates the readings of meetings. They depend on the plan and the round only, and not on the order of calls.
class Fabric {
 public:
  /// Throws std::invalid_argument if a number is out of range, or if the fabric does not have what a fault is about.
  explicit Fabric(FabricPlan plan);

  /// A sweep with hosts, rails, leaves and the kind of reading, and without readings.
  [[nodiscard]] Sweep empty_sweep() const;
  /// Adds to `sweep` the readings of pairs that are measured at the same time, in both directions, on every rail. No
  /// host is in two of them.
  void measure(std::span<const Pair> meetings, std::int32_t round, Sweep& sweep) const;

  [[nodiscard]] const FabricPlan& plan() const { return plan_; }
  [[nodiscard]] std::int32_t leaf_of(std::int32_t host) const {
    return plan_.leaf_size > 0 ? host / plan_.leaf_size : 0;
  }
  [[nodiscard]] std::int32_t leaves() const { return leaf_of(plan_.hosts - 1) + 1; }

 private:
  /// One direction on one rail.
  struct Way {
    std::int32_t from = 0;
    std::int32_t to = 0;
    std::int32_t rail = 0;
    std::int32_t spine = 0;
  };
  /// How many flows share each leaf's uplinks and downlinks in a round.
  struct Load {
    std::vector<std::int32_t> up;  ///< by leaf and spine, or by leaf where flows are shared evenly
    std::vector<std::int32_t> down;
  };

  [[nodiscard]] std::int32_t spine_of(std::int32_t from, std::int32_t to, std::int32_t rail) const;
  [[nodiscard]] Load load_of(std::span<const Pair> meetings) const;
  [[nodiscard]] std::size_t uplink(std::int32_t leaf, std::int32_t spine) const;
  [[nodiscard]] double share_of(const Load& load, const Way& way) const;
  [[nodiscard]] double rate_of(const Way& way, const Load& load, std::int32_t round) const;
  [[nodiscard]] double after_faults(const Way& way, std::int32_t round) const;
  [[nodiscard]] bool hits_host(const Fault& fault, const Way& way, bool sends, std::int32_t round) const;
  [[nodiscard]] bool hits_beyond_hosts(const Fault& fault, const Way& way) const;
  void add_reading(const Pair& meeting, const Load& load, bool failed, Reading reading, Sweep& sweep) const;
  [[nodiscard]] bool fails(const Pair& meeting, std::int32_t round) const;
  void check_faults() const;

  FabricPlan plan_;
  std::vector<double> own_rate_;             // by host: 1, or what `spread` makes of it
  std::vector<std::vector<Fault>> by_host_;  // faults that name a host, at every host they name
  std::vector<Fault> others_;
};

}  // namespace fabricbench::cluster
