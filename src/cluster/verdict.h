// Who is to blame for what is slow: what attribution (attribution.h) says of a sweep.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cluster/open_groups.h"
#include "cluster/readings.h"

namespace fabricbench::cluster {

/// What is to blame.
enum class Blame : std::uint8_t {
  kHost,       ///< slow with everybody, on every rail there is
  kNic,        ///< one rail of one host, of several: its NIC, cable, transceiver, PCIe link or GPU
  kPair,       ///< two hosts that are both fine with everybody else: the path between them
  kLeaf,       ///< a leaf's uplinks: its hosts are slow with those of other leaves, and fine with each other
  kLeafPair,   ///< the path between two leaves: a spine
  kRail,       ///< one rail of most hosts: its switches; slow, or nothing can be measured over it
  kDevice,     ///< a GPU, NIC or switch port that several hosts had, or one host among others: slow whoever has it
  kTransient,  ///< a host that is slow now and then, whoever its partner is: a flapping link, or what runs beside; or
               ///< two hosts, a pair that is so
  kDead,      ///< a host with which nothing can be measured, perhaps in one direction alone, though its partners can be
  kDeadPair,  ///< two hosts that only fail with each other
  kCutOff,    ///< hosts that work with each other, and with nobody else: what connects them with the others
  kAll,       ///< everything: no pair reaches what was expected (VerdictSettings::expected)
  kUndecided  ///< slow or failed, and the readings cannot tell whether it is one host, the other, or the path
};
/// As JSON has them.
constexpr auto names_of(Blame) {
  return std::to_array<std::string_view>({"host", "nic", "pair", "leaf", "leaf_pair", "rail", "device", "transient",
                                          "dead", "dead_pair", "cut_off", "all", "undecided"});
}

/// With how many of its partners something is slow in one direction; of a leaf or rail, how many of its hosts
/// are.
struct PartnerCount {
  std::int64_t met = 0;    ///< different hosts with which there is a figure
  std::int64_t shown = 0;  ///< of them, those with which it would show
  std::int64_t slow = 0;   ///< of these, those with which it is slow

  friend bool operator==(const PartnerCount&, const PartnerCount&) = default;
};

struct Finding {
  Blame blame = Blame::kUndecided;
  Direction direction = Direction::kBoth;
  /// By their place in Sweep::hosts: one; two of a pair; all suspects if undecided; of kDevice those that were slow
  /// over it, which are fine themselves.
  std::vector<std::int32_t> hosts;
  /// By their place in Sweep::devices. Of kDevice, what is to blame: several where the same readings went through all
  /// of them. Else what all readings of the host, or of its rail, went through.
  std::vector<std::int32_t> devices;
  std::int32_t rail = -1;        ///< by its place in Sweep::rails, of kNic, kRail and pairs of several rails; else -1
  std::int32_t other_rail = -1;  ///< of a pair of two different rails: the second host's, `rail` being the first one's
  std::int32_t leaf = -1;        ///< of kLeaf and kLeafPair: by its place in the groups of Verdict::groupings[0]
  std::int32_t other_leaf = -1;  ///< of kLeafPair
  double ratio = 0;              ///< measured rate over the expected one, the median; 0 where all failed
  double rate = 0;               ///< bytes per second, the median measured
  double expected = 0;           ///< bytes per second, of what is healthy and comparable
  std::int64_t readings = 0;     ///< on which it rests
  std::int64_t failed = 0;       ///< of them without a figure
  std::int64_t slow = 0;         ///< of them slow ones; of a kTransient host both are meetings with a partner
  std::vector<std::int32_t> slow_rounds;  ///< of a kTransient host: when that was, ascending
  std::int64_t partners = 0;              ///< different hosts; of leaves and rails, those of their own side
  std::int64_t slow_partners = 0;  ///< of kHost, kNic and kDevice: of them, those with which it is slow, either way
  std::int64_t hosts_met = 0;      ///< of kDevice: that had it
  std::int64_t fine_without = 0;   ///< of kDevice: of `hosts`, those that are fast over other devices
  PartnerCount sends;              ///< of kHost, kNic, kLeaf and kRail, in the directions that are slow
  PartnerCount receives;
  bool both_ways = false;       ///< its figures are of both directions together: nobody can tell them apart
  bool other_way_fine = false;  ///< of one direction of a host, NIC or pair: the other one was measured, and is fine
  /// Of kLeaf: its hosts were measured with each other, and are fine; of kLeafPair: both are with other leaves.
  bool fine_elsewhere = false;
  std::int64_t other_rails = 0;      ///< of kNic: rails of the host besides, with which anything was tried
  std::int64_t fine_rails = 0;       ///< of them, those that are fine, or of a dead NIC that work
  std::array<bool, 2> fine_hosts{};  ///< of a pair: nothing else in the verdict speaks against the first, the second
  bool has_worked = false;           ///< of what is dead: earlier
  /// Of kDead: of its partners, those that work with others; of a dead kRail: of its hosts, those that work over
  /// others.
  std::int64_t working_partners = 0;
  std::vector<std::int16_t> kinds;  ///< in which it shows, by place in Sweep::kinds, where not in all; else empty
  /// The chance that chance alone would show anything like it anywhere in this sweep (after Bonferroni); at most 1.
  double false_alarm = 1;
  bool confirmed = false;  ///< after it was slow or failed, in a later round, alone in the network, again
  std::string reason;      ///< of failures, as the first record told it; else empty
};

/// What further readings would decide. The planner takes these first.
struct Question {
  std::int32_t host = 0;    ///< whom it is about
  std::int32_t other = -1;  ///< the other one of a pair; -1: the host, with any partner that is fine
  std::int16_t rail = 0;
  std::int32_t readings = 0;  ///< how many more, at least
  std::string why;            ///< for people, such as `slow once with node07`
  /// Both are suspected, and have not been measured with each other: they may be, while other pairs are.
  bool of_suspects = false;
  /// Rounds for everybody answer it as well, and say what is usual at the same time.
  bool by_everybody = false;
  /// It shows with hosts of its own group of this level alone, by place in Verdict::groupings: the way to others is
  /// slower still.
  std::int32_t within_level = kNoLevel;
  /// Nothing works with one of them, or with either: they take part once more for each other.
  bool of_dead = false;
  static constexpr std::int32_t kNoLevel = -1;
};

/// Noise (a standard deviation) of which people should know before they look for something small.
inline constexpr double kMuchNoise = 0.08;

/// A set of readings that are comparable with each other.
struct Stratum {
  /// Of fewer pairs, nobody can say which is as it should be.
  static constexpr std::int32_t kPairsOfNorm = 3;
  std::int16_t kind = 0;
  std::int16_t from_rail = 0;
  std::int16_t to_rail = 0;
  bool both_ways = false;
  /// By how many levels of nearness both hosts are apart (Verdict::levels); 0 too where there are no levels.
  std::int32_t distance = 0;
  bool slow_kind = false;  ///< of a pair of which one host or both are of the slower kind (Verdict::kinds)
  std::int64_t readings = 0;
  std::int32_t pairs = 0;  ///< different pairs of hosts, counted up to kPairsOfNorm
  double centre = 0;       ///< bytes per second: what a healthy reading is
  double scale = 0;  ///< relative: the standard deviation of a healthy reading, from the median absolute deviation
};

/// Hosts that are near each other: of one leaf switch or rack, of one pod or hall.
struct Group {
  std::string name;  ///< as the locality has it; of groups that were found, `group 1` and so on
  std::vector<std::int32_t> hosts;
};

/// One way in which hosts are sorted into groups.
struct Grouping {
  std::vector<Group> groups;  ///< not all hosts have to be of one
  double across = 1;          ///< rate between groups over the rate within one, the medians
  bool is_given = false;      ///< by a locality, and not found in the readings
  double false_alarm = 0;     ///< the chance that hosts without groups look like this, about
};

/// Hosts of which half or more are slower than the others with everybody, perhaps in one direction alone: readings
/// cannot say which kind is as it should be.
struct Kinds {
  std::vector<std::int32_t> fast;
  std::vector<std::int32_t> slow;
  double fast_rate = 0;  ///< bytes per second, the medians
  double slow_rate = 0;
  Direction direction = Direction::kBoth;
  bool both_suffice = false;  ///< the slower ones too reach what was expected
};

/// How far the readings go.
enum class Judged : std::uint8_t {
  kClean,   ///< everything was looked at, and nothing is slow
  kSlow,    ///< something is
  kUnknown  ///< too little was measured to say that all is well, and nothing was found either
};
constexpr auto names_of(Judged) { return std::to_array<std::string_view>({"clean", "slow", "unknown"}); }

/// Pairs that are faster than the others since their hosts are near each other: in other pairs these are as fast as
/// all.
struct NearPairs {
  std::int64_t pairs = 0;
  std::int64_t of = 0;   ///< pairs measured
  double faster_by = 0;  ///< than the others, as a share: the median
};

/// Whatever a model says, with a larger share of slow readings that nothing explains all is not well.
constexpr double kMostUnexplained = 0.1;
/// The same of readings that are below the least that their runs were asked for.
constexpr double kMostBelowAsked = 0.1;
/// The same of readings without a figure.
constexpr double kMostFailing = 0.02;
/// How much faster healthy pairs are alone than in a full round, the median of pairs measured both ways.
struct AloneOverTogether {
  double ratio = 0;           ///< of the rates; 0: no pair was measured both ways
  std::int64_t compared = 0;  ///< directions of pairs on which that rests
  double error = 0;           ///< standard error of the ratio's logarithm
};

/// By a larger share nothing healthy changes for long: then nobody can say which time was as it should be.
constexpr double kMostLastingChange = 0.45;

struct Verdict {
  Judged judged = Judged::kUnknown;
  std::vector<Finding> findings;    ///< the largest deficit first
  std::vector<Question> questions;  ///< open
  std::vector<Stratum> strata;
  std::vector<std::int32_t> stratum_of;  ///< by place in Sweep::readings; -1: it has no rate
  std::vector<float> usual;         ///< likewise, bytes per second: of a healthy one at that time; 0: it has no rate
  std::vector<Grouping> groupings;  ///< the finest first
  std::optional<Kinds> kinds;
  /// What the readings show against groups that a locality gave: hosts of one of them are in two of these.
  std::optional<Grouping> contradiction;
  /// Hosts of a small group, or of none, that are as slow with all others as those of two groups are with each other:
  /// they stand apart, or they or their uplinks are slow. Readings cannot tell.
  std::vector<std::int32_t> may_stand_apart;
  bool groups_are_open = false;         ///< more readings would tell which hosts are near each other
  bool some_are_faster = false;         ///< pairs that are faster than others, though all groups are known
  std::vector<OpenGroups> open_groups;  ///< where it is known which these are
  std::optional<NearPairs> near_pairs;  ///< where no groups were found, but that there are some shows
  double changes_with_time = 0;  ///< what is usual, by this share of its highest; 0: by no more than half the tolerance
  double lasting_change = 0;     ///< the same, but for three tenths of the time at either end
  std::int64_t readings = 0;
  std::int64_t failed = 0;
  double outliers = 0;           ///< share of readings that are slow, and that nobody is blamed for
  double failing = 0;            ///< share of readings that failed, and that nobody is blamed for
  double below_asked = 0;        ///< share of readings that are below the least that their runs were asked for
  bool many_slow_pairs = false;  ///< so many that they are no exception, and nobody is blamed for them
  AloneOverTogether alone;
  AloneOverTogether alone_between;       ///< the same, of hosts of different groups
  std::vector<std::int32_t> not_judged;  ///< hosts with too few readings to say anything of
  std::vector<std::string> notes;        ///< for people: what to know of the readings before believing the rest
};

/// What counts as slow.
struct VerdictSettings {
  double expected = 0;  ///< bytes per second of one direction of a pair of near hosts; 0: not known
  /// In the place of that, where it is not known: the share of the slower port of a pair that a direction has to reach.
  double expected_of_port = 0;
  double tolerance = 0.05;    ///< a rate this share below what is expected is not held against anybody
  double false_alarm = 0.01;  ///< chance of one wrong finding or more in a sweep of healthy hosts
  int partners = 3;           ///< different ones with whom a host has to be slow
  int pair_readings = 3;      ///< slow ones, after the one that raised the suspicion, to blame a pair
};

}  // namespace fabricbench::cluster
