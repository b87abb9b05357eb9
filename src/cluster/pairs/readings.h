// The readings of a sweep over pairs of hosts, as plain data. They come from records (cluster/command), from
// pairwise_bw while it runs, or from the simulator of tests.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "cluster/pairs/sets.h"
#include "common/core/names.h"
#include "common/core/script_command.h"

namespace fabricbench::cluster {

/// How the measurement of one direction of a pair ended.
enum class Outcome : std::uint8_t {
  kMeasured,  ///< there is a rate
  kFailed,    ///< no figure: refused, broken off, timed out
  kWrong,     ///< data that differ from those sent: no evidence on bandwidth, nor that nothing gets through
  kNotTried   ///< skipped, because an earlier attempt had failed: no evidence by itself
};

/// A direction of a host (it sends, it receives), or of a pair (first host to second host, and back).
enum class Direction : std::uint8_t { kBoth, kSends, kReceives };
constexpr auto names_of(Direction) { return std::to_array<std::string_view>({"both", "sends", "receives"}); }

/// One measured bandwidth: of messages from one host to another, over one rail.
struct Reading {
  std::int32_t from = 0;  ///< the sender, by its place in Sweep::hosts
  std::int32_t to = 0;
  std::int16_t from_rail = 0;  ///< by its place in Sweep::rails: the sender's NIC or GPU
  std::int16_t to_rail = 0;
  std::int16_t test = 0;  ///< by its place in Sweep::tests: only figures of one test are comparable
  Outcome outcome = Outcome::kMeasured;
  bool small_pass = false;      ///< it failed, though messages of a few bytes arrived
  bool both_ways = false;       ///< the bandwidth is of both directions together, which cannot be told apart
  std::int32_t round = 0;       ///< rounds are numbered in time; readings of one round were taken at the same time
  std::int32_t concurrent = 1;  ///< pairs measured at the same time, this one too; 0: not known
  float rate = 0;  ///< bytes per second; 0 unless measured, and where ranks waited for a processor, which tells nothing
};

/// Two hosts, mostly the one with the lower number first.
using HostPair = std::pair<std::int32_t, std::int32_t>;

/// What comparable readings have in common besides the distance of their hosts: test and size, both rails, and whether
/// they are of both directions together.
using Setting = std::tuple<std::int16_t, std::int16_t, std::int16_t, bool>;
/// That of a reading, or of a Stratum.
template <typename Readings>
[[nodiscard]] Setting setting_of(const Readings& readings) {
  return {readings.test, readings.from_rail, readings.to_rail, readings.both_ways};
}

/// One direction of a pair, sender and receiver, in one setting.
using PairWay = std::tuple<std::int32_t, std::int32_t, Setting>;
[[nodiscard]] inline PairWay way_of(const Reading& reading) { return {reading.from, reading.to, setting_of(reading)}; }

/// Whether there is a rate to compare.
inline bool has_rate(const Reading& reading) {
  return reading.outcome == Outcome::kMeasured && reading.from != reading.to && std::isfinite(reading.rate) &&
         reading.rate > 0;
}

/// Whether a reading tells if anything gets through.
constexpr bool has_worked_or_failed(const Reading& reading) {
  return reading.outcome == Outcome::kMeasured || reading.outcome == Outcome::kFailed;
}

/// What a device is.
enum class DeviceKind : std::uint8_t { kNic, kGpu, kSwitchPort };
constexpr std::size_t kDeviceKinds = 3;
constexpr auto names_of(DeviceKind) { return std::to_array<std::string_view>({"nic", "gpu", "switch_port"}); }

/// A piece of hardware that messages go through. It may move from one host to another.
struct Device {
  DeviceKind kind = DeviceKind::kNic;
  std::string id;    ///< no other device has it: a GUID, a UUID, a switch port; where none is known, `node07/mlx5_2`
  std::string name;  ///< as a host calls it: `mlx5_2`, a PCI address; may be empty
};

/// The devices that a reading went through on one of its two sides, as far as they are known.
struct Route {
  static constexpr std::int32_t kNone = -1;
  /// By kind of device, its place in Sweep::devices, or kNone.
  std::array<std::int32_t, kDeviceKinds> devices{kNone, kNone, kNone};
  double port_rate = 0;  ///< bytes per second and direction of the port; 0: not known
};

/// The routes on both sides of a reading: places in Sweep::routes, or Route::kNone.
struct RoutePair {
  std::int32_t from = Route::kNone;
  std::int32_t to = Route::kNone;
};

/// All that was measured between a set of hosts, in one run or several.
struct Sweep {
  static constexpr std::int32_t kNoLeaf = -1;
  std::vector<std::string> hosts;
  std::vector<std::string> rails{""};  ///< one without a name where there is only one
  std::vector<std::string> tests;      ///< test and message size, such as `send_recv_bibw 4 MiB`
  std::vector<std::string> leaves;     ///< leaf switches or racks
  std::vector<std::int32_t> leaf_of;   ///< by host, its place in `leaves`, or kNoLeaf; empty: nothing is known
  std::vector<Reading> readings;       ///< in the order in which they were taken
  HowStarted how;                      ///< of the first file that says it
  std::int64_t below_asked = 0;     ///< number of readings below the minimum that their run demanded (--min-bandwidth)
  double most_waited = 0;           ///< the largest PairReading::processor_wait
  std::int64_t not_understood = 0;  ///< number of files whose results could not be read
  /// Reasons of failures and wrong data, by place in `readings`, ascending. Some readings have none.
  std::vector<std::pair<std::size_t, std::string>> reasons;
  std::vector<Device> devices;
  std::vector<Route> routes;
  /// By place in `readings`. May be shorter than `readings`, or empty: the routes of the rest are not known.
  std::vector<RoutePair> routes_of;

  /// The names of these hosts.
  [[nodiscard]] std::vector<std::string> names_of(std::span<const std::int32_t> places) const {
    std::vector<std::string> names;
    names.reserve(places.size());
    for (const std::int32_t host : places) names.push_back(hosts[at(host)]);
    return names;
  }

  /// The route on one side of a reading; nullptr where it is not known.
  [[nodiscard]] const Route* route_of(std::size_t reading, bool receiver) const {
    if (reading >= routes_of.size()) return nullptr;
    const std::int32_t route = receiver ? routes_of[reading].to : routes_of[reading].from;
    return route == Route::kNone ? nullptr : &routes[at(route)];
  }
};

/// Pairs of groups that more readings have to tell apart. A host without a group is a group by itself.
struct OpenGroups {
  std::vector<std::int32_t> group_of;  ///< by host; below 0: not known
  /// Pairs that may be one group: too little was measured between them.
  std::vector<std::pair<std::int32_t, std::int32_t>> groups;
};

}  // namespace fabricbench::cluster
