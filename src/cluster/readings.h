// What is known of a sweep over pairs of hosts, however it was measured: plain data, made from records by
// cluster/tools, by pairwise_bw while it goes on, and by the simulator.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fabricbench::cluster {

/// How the measurement of one direction of a pair ended.
enum class Outcome : std::uint8_t {
  kMeasured,  ///< there is a rate
  kFailed,    ///< no figure, or wrong data: refused, broken off, timed out
  kNotTried   ///< nobody tried, because an earlier attempt had failed; says nothing of its own
};

/// One figure: of the messages from one host to another, over one rail.
struct Reading {
  std::int32_t from = 0;  ///< the sender, by its place in Sweep::hosts
  std::int32_t to = 0;
  std::int16_t from_rail = 0;  ///< by its place in Sweep::rails: the sender's NIC or GPU
  std::int16_t to_rail = 0;
  std::int16_t kind = 0;  ///< by its place in Sweep::kinds: only figures of one kind are comparable
  Outcome outcome = Outcome::kMeasured;
  bool both_ways = false;       ///< the figure is of both directions together: nobody can tell them apart
  std::int32_t round = 0;       ///< the order in time: readings of one round were taken at the same time
  std::int32_t concurrent = 1;  ///< pairs measured at the same time, this one too; 0: not known
  float rate = 0;               ///< bytes per second; 0 unless measured
};

/// Everything that was measured of a set of hosts, in one run or several.
struct Sweep {
  static constexpr std::int32_t kNoLeaf = -1;
  std::vector<std::string> hosts;
  std::vector<std::string> rails{""};  ///< one without a name where there is only one
  std::vector<std::string> kinds;      ///< test and message size, such as `send_recv_bibw 4 MiB`
  std::vector<std::string> leaves;     ///< leaf switches or racks
  std::vector<std::int32_t> leaf_of;   ///< by host, its place in `leaves`, or kNoLeaf; empty: nothing is known
  std::vector<Reading> readings;       ///< in the order in which they were taken
  /// Why a reading failed, by its place in `readings`, ascending; not of every failed one.
  std::vector<std::pair<std::size_t, std::string>> reasons;
};

}  // namespace fabricbench::cluster
