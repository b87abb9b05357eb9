// Who is to blame for what is slow: what attribution (attribution.h) says of a sweep.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/readings.h"

namespace fabricbench::cluster {

/// What is to blame.
enum class Blame : std::uint8_t {
  kHost,       ///< slow with everybody, on every rail there is
  kNic,        ///< one rail of one host, of several: its NIC, cable, transceiver, PCIe link or GPU
  kPair,       ///< two hosts that are both fine with everybody else: the path between them
  kLeaf,       ///< a leaf's uplinks: its hosts are slow with those of other leaves, and fine with each other
  kLeafPair,   ///< the path between two leaves: a spine
  kRail,       ///< one rail of most hosts: its switches
  kTransient,  ///< a host that is slow now and then, whoever its partner is: a flapping link, or what runs beside; or
               ///< two hosts, a pair that is so
  kDead,       ///< a host with which nothing can be measured, though its partners can be
  kDeadPair,   ///< two hosts that only fail with each other
  kUndecided   ///< slow or failed, and the readings cannot tell whether it is one host, the other, or the path
};

/// Which of a host's two directions, or of a pair's (from the first host to the second, or back).
enum class Direction : std::uint8_t { kBoth, kSends, kReceives };

struct Finding {
  Blame blame = Blame::kUndecided;
  Direction direction = Direction::kBoth;
  std::vector<std::int32_t> hosts;  ///< by their place in Sweep::hosts: one; two of a pair; all suspects if undecided
  std::int32_t rail = -1;        ///< by its place in Sweep::rails, of kNic, kRail, and of a pair of one rail; else -1
  std::int32_t leaf = -1;        ///< of kLeaf and kLeafPair
  std::int32_t other_leaf = -1;  ///< of kLeafPair
  double ratio = 0;              ///< measured rate over the expected one, the median; 0 where all failed
  double rate = 0;               ///< bytes per second, the median measured
  double expected = 0;           ///< bytes per second, of what is healthy and comparable
  std::int64_t readings = 0;     ///< on which it rests
  std::int64_t failed = 0;       ///< of them without a figure
  std::int64_t partners = 0;     ///< different hosts, or for a pair 1
  /// The chance that chance alone would show anything like it anywhere in this sweep (after Bonferroni); at most 1.
  double false_alarm = 1;
  bool confirmed = false;  ///< by readings taken alone after it was suspected
  std::string reason;      ///< of failures, as the first record told it; else empty
};

/// What further readings would decide. The planner takes these first.
struct Question {
  std::int32_t host = 0;    ///< whom it is about
  std::int32_t other = -1;  ///< the other one of a pair; -1: the host, with any healthy partner
  std::int16_t rail = 0;
  std::int32_t readings = 0;  ///< how many more, at least
  std::string why;            ///< for people, such as `slow once with node07`
};

/// A set of readings that are comparable with each other.
struct Stratum {
  std::int16_t kind = 0;
  std::int16_t from_rail = 0;
  std::int16_t to_rail = 0;
  bool both_ways = false;
  bool same_leaf = false;  ///< false too where leaves are not known
  std::int64_t readings = 0;
  double centre = 0;  ///< bytes per second: what a healthy reading is
  double scale = 0;   ///< relative: the standard deviation of a healthy reading, from the median absolute deviation
};

/// How far the readings go.
enum class Judged : std::uint8_t {
  kClean,   ///< everything was looked at, and nothing is slow
  kSlow,    ///< something is
  kUnknown  ///< too little was measured to say that all is well, and nothing was found either
};

struct Verdict {
  Judged judged = Judged::kUnknown;
  std::vector<Finding> findings;    ///< the worst first
  std::vector<Question> questions;  ///< open
  std::vector<Stratum> strata;
  std::int64_t readings = 0;
  std::int64_t failed = 0;
  double outliers = 0;  ///< share of readings that are slow once and not again
  /// Rate of a pair alone over that of the same pair in a full round, the median of pairs measured both ways; 0: none.
  double alone_over_together = 0;
  std::vector<std::int32_t> not_judged;  ///< hosts with too few readings to say anything of
  std::vector<std::string> notes;        ///< for people: what to know of the readings before believing the rest
};

/// What counts as slow.
struct VerdictSettings {
  double tolerance = 0.05;    ///< a rate this share below what is expected is not held against anybody
  double false_alarm = 0.01;  ///< chance of one wrong finding or more in a sweep of healthy hosts
  int partners = 3;           ///< different ones with whom a host has to be slow
  int pair_readings = 3;      ///< slow ones, after the one that raised the suspicion, to blame a pair
};

}  // namespace fabricbench::cluster
