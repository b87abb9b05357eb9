// The verdict of attribution (attribution.h) on a sweep: what is slow, and what is to blame.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cluster/pairs/finding_kinds.h"
#include "cluster/pairs/readings.h"
#include "cluster/pairs/sets.h"

namespace fabricbench::cluster {

/// With how many partners a host is slow in one direction. Of a leaf or rail: how many of its hosts are slow.
struct PartnerCount {
  std::int64_t met = 0;    ///< different hosts with a reading
  std::int64_t shown = 0;  ///< of these, partners with which the deficit would show
  std::int64_t slow = 0;   ///< of these, partners with which it is slow

  friend bool operator==(const PartnerCount&, const PartnerCount&) = default;
};

struct Finding {
  Blame blame = Blame::kUndecided;
  Direction direction = Direction::kBoth;
  /// Places in Sweep::hosts: the host; the two hosts of a pair; all suspects if undecided; of kDevice the hosts that
  /// were slow over it, which are fine themselves.
  std::vector<std::int32_t> hosts;
  /// Places in Sweep::devices. Of kDevice, the devices to blame: several if the same readings went through all of them.
  /// Of others, the devices that all readings of the host, or of its rail, went through.
  std::vector<std::int32_t> devices;
  std::int32_t rail =
      -1;  ///< place in Sweep::rails, of kNic, of kRail, and of pairs if there are several rails; else -1
  std::int32_t other_rail =
      -1;                  ///< of a pair over two different rails: that of the second host; `rail` is that of the first
  std::int32_t leaf = -1;  ///< of kLeaf and kLeafPair: place in the groups of Verdict::groupings[0]
  std::int32_t other_leaf = -1;  ///< of kLeafPair
  double ratio = 0;              ///< median rate over expected rate; 0: all readings failed
  /// Of kHost and kNic: the same when it sends, and when it receives; 0: not known.
  std::array<double, 2> ratios{};
  double weight = 0;          ///< number of hosts that it slows, times its deficit: findings are in this order
  double rate = 0;            ///< bytes per second, the median measured
  double expected = 0;        ///< bytes per second, of comparable healthy readings
  std::int64_t readings = 0;  ///< number of readings that the finding rests on
  std::int64_t failed = 0;    ///< of these, failed ones
  std::int64_t slow = 0;      ///< of these, slow ones; of a kTransient host, `readings` and `slow` count meetings; of
                              ///< kWrongData: those with wrong data
  std::vector<std::int32_t> slow_rounds;  ///< of a kTransient host: the rounds in which it was slow, ascending
  std::int64_t partners = 0;              ///< number of different partners; of leaves and rails, of their own hosts
  std::int64_t slow_partners = 0;  ///< of kHost, kNic and kDevice: partners with which it is slow in any direction
  std::int64_t hosts_met = 0;      ///< of kDevice: hosts that used it
  std::int64_t fine_without = 0;   ///< of kDevice: those of `hosts` that are fast over other devices
  PartnerCount sends;              ///< of kHost, kNic, kLeaf and kRail, in the directions that are slow
  PartnerCount receives;
  bool both_ways = false;       ///< its readings are of both directions together, which cannot be told apart
  bool other_way_fine = false;  ///< if slow in one direction: the other direction was measured, and is fine
  /// Of kLeaf: its hosts were measured with each other, and are fine. Of kLeafPair: both leaves are fine with others.
  bool fine_elsewhere = false;
  std::int64_t other_rails = 0;  ///< of kNic: other rails of the host that were tried
  std::int64_t fine_rails = 0;   ///< of these, fine ones; of a dead NIC, working ones
  /// Of a pair: nothing else in the verdict is against the first host, the second host. If undecided: it has reached
  /// the usual rate with another host, so it is no suspect.
  std::array<bool, 2> fine_hosts{};
  bool small_pass = false;  ///< of failures: messages of a few bytes arrived each time
  bool has_worked = false;  ///< of something dead: it has worked before
  /// Of kDead: partners that work with others. Of a dead kRail: hosts that work over other rails.
  std::int64_t working_partners = 0;
  /// Places in Sweep::tests: the tests in which it shows; empty: all.
  std::vector<std::int16_t> tests;
  /// The probability of such a finding by chance, anywhere in the sweep (with Bonferroni's correction); at most 1.
  double false_alarm = 1;
  bool confirmed = false;  ///< it was slow or failed again in a later round, as the only pair
  std::string reason;      ///< of failures: the reason that the first record gives; else empty
};

[[nodiscard]] constexpr const FindingKind& kind_of(const Finding& finding) { return kind_of(finding.blame); }

[[nodiscard]] constexpr bool is(const Finding& finding, int any_of) { return kind_of(finding).is(any_of); }

/// Whether the readings cannot tell what is to blame.
[[nodiscard]] constexpr bool is_open(const Finding& finding) { return is(finding, kOpen); }

/// Whether a finding is about two hosts and what is between them.
[[nodiscard]] constexpr bool is_path(const Finding& finding) {
  return finding.hosts.size() == 2 && !is(finding, kOverDevices);
}

/// Whether a finding is on the uplinks of one leaf.
[[nodiscard]] constexpr bool is_of_leaf(const Finding& finding) { return finding.leaf >= 0 && finding.other_leaf < 0; }

/// Whether a finding is on all hosts, or most.
[[nodiscard]] constexpr bool is_of_all(const Finding& finding) { return finding.hosts.empty() && finding.leaf < 0; }

[[nodiscard]] constexpr bool has_deficit(const Finding& finding) { return kind_of(finding).readings_with.empty(); }

/// What is missing, as a share; what is no deficit counts as one of all.
[[nodiscard]] constexpr double deficit_of(const Finding& finding) {
  return has_deficit(finding) ? 1 - finding.ratio : 1;
}

/// Readings that would decide something that is open. The planner measures these first.
struct FollowUp {
  std::int32_t host = 0;    ///< the host that it is about
  std::int32_t other = -1;  ///< the other host of a pair; -1: any partner that is fine
  std::int16_t rail = 0;
  std::int32_t readings = 0;  ///< minimum number of further readings
  std::string why;            ///< for people, such as `slow once with node07`
  /// Both hosts are suspects and have not met. They may be measured beside other pairs.
  bool of_suspects = false;
  /// A round with all hosts serves as well, and shows the usual rate at its time.
  bool by_everybody = false;
  /// The deficit shows only with hosts of its group of this level (place in Verdict::groupings), since the path to
  /// others is slower still.
  std::int32_t within_level = kNoLevel;
  /// One host is dead, or both are: they take part once more, to be measured with each other.
  bool of_dead = false;
  bool with_all = false;  ///< it was slow with all partners, and is a suspect however few these are
  static constexpr std::int32_t kNoLevel = -1;
};

/// Noise, as a standard deviation, above which the report has a note: small deficits cannot be seen.
inline constexpr double kMuchNoise = 0.08;

/// A set of comparable readings.
struct Stratum {
  /// A centre from fewer pairs is not trusted.
  static constexpr std::int32_t kPairsOfNorm = 3;
  std::int16_t test = 0;
  std::int16_t from_rail = 0;
  std::int16_t to_rail = 0;
  bool both_ways = false;
  /// Distance between the hosts, in levels (Structure::distance); 0 if there are no levels.
  std::int32_t distance = 0;
  bool slow_kind = false;  ///< one host or both are of the slower kind (Verdict::kinds)
  std::int64_t readings = 0;
  std::int32_t pairs = 0;  ///< number of different pairs of hosts, up to kPairsOfNorm
  double centre = 0;       ///< bytes per second of a healthy reading
  double scale = 0;        ///< relative standard deviation of a healthy reading, from the median absolute deviation
};

/// Hosts that are near each other: in one leaf switch or rack, in one pod or hall.
struct Group {
  std::string name;  ///< from the locality; groups that were found are `group 1` and so on
  std::vector<std::int32_t> hosts;
};

/// A partition of hosts into groups.
struct Grouping {
  std::vector<Group> groups;  ///< some hosts may be in none
  double across = 1;          ///< median rate between groups over the median rate within groups
  bool is_given = false;      ///< given by a locality, and not found in the readings
  double false_alarm = 0;     ///< approximate probability that hosts without groups look like this
};

/// Two kinds of hosts: half of the hosts or more are slower with all partners, perhaps in one direction only. Readings
/// cannot tell which kind is healthy.
struct HostKinds {
  std::vector<std::int32_t> fast;
  std::vector<std::int32_t> slow;
  double fast_rate = 0;  ///< bytes per second, median
  double slow_rate = 0;
  Direction direction = Direction::kBoth;
  bool both_suffice = false;  ///< the slower kind reaches the expected rate too
};

/// The conclusion.
enum class Judged : std::uint8_t {
  kClean,   ///< everything was measured, and nothing is slow
  kSlow,    ///< something is slow
  kUnknown  ///< nothing was found, but too little was measured to say that all is well
};
constexpr auto names_of(Judged) { return std::to_array<std::string_view>({"clean", "slow", "unknown"}); }

/// Pairs of near hosts, which are faster than other pairs of the same hosts.
struct NearPairs {
  std::int64_t pairs = 0;
  std::int64_t of = 0;   ///< pairs measured
  double faster_by = 0;  ///< than the others: the median, as a share
};

/// With a larger share of slow readings that nothing explains, the conclusion is never kClean.
constexpr double kMostUnexplained = 0.1;
/// Likewise the share of readings below the minimum that their runs demanded.
constexpr double kMostBelowAsked = 0.1;
/// Likewise the share of failed readings that nothing explains: as many outliers are usual in a healthy network.
constexpr double kMostFailing = 0.02;
/// Whether pairs of one round share links: what pairs reach alone, and beside others later on.
struct SharedLinks {
  std::int64_t pairs = 0;     ///< measured alone, and then beside others
  std::int64_t readings = 0;  ///< of them beside others, in each direction; 0: nothing is known
  std::int64_t slowed = 0;    ///< of these, clearly slower than their pair alone
  double alone = 0;           ///< bytes per second, median over directions of pairs
  double beside = 0;          ///< bytes per second, median over readings beside others
  bool are_shared = false;
};

/// A larger lasting change with time is not healthy: then readings cannot tell which time was healthy.
constexpr double kMostLastingChange = 0.45;

struct Verdict {
  Judged judged = Judged::kUnknown;
  std::vector<Finding> findings;     ///< the largest weight first
  std::vector<FollowUp> follow_ups;  ///< open
  std::vector<Stratum> strata;
  std::vector<std::int32_t> stratum_of;  ///< by place in Sweep::readings; -1: it has no rate
  std::vector<float> usual;  ///< by place in Sweep::readings: rate of a healthy reading at its time, in bytes per
                             ///< second; 0: it has no rate
  std::vector<Grouping> groupings;  ///< the finest first
  std::optional<HostKinds> kinds;
  /// Groups in the readings that contradict the locality: hosts of one of its groups are in two of these.
  std::optional<Grouping> contradiction;
  /// Hosts of a small group, or of none, whose rate with all others is that between groups. Either they are far from
  /// the others, or they or their uplinks are slow. Readings cannot tell.
  std::vector<std::int32_t> may_stand_apart;
  bool groups_are_open = false;         ///< it is open which hosts are near each other; more readings would tell
  bool some_are_faster = false;         ///< some pairs are faster than others, though all groups are known
  std::vector<OpenGroups> open_groups;  ///< the open groups, if these are known
  /// Places in the groups of groupings[0]: where links are shared, leaves that may be slow; more rounds would tell.
  std::set<std::int32_t> open_leaves;
  std::optional<NearPairs> near_pairs;  ///< if no groups were found, but near pairs show that there are some
  double changes_with_time = 0;  ///< change of the usual rate, as a share of its maximum; 0: at most half the tolerance
  double lasting_change = 0;     ///< the same, without the fastest and the slowest three tenths of the time
  std::int64_t readings = 0;
  std::int64_t failed = 0;
  std::int64_t wrong = 0;        ///< number of readings with wrong data
  double outliers = 0;           ///< share of slow readings that nothing explains
  double failing = 0;            ///< share of failed readings that nothing explains
  double below_asked = 0;        ///< share of readings below the minimum that their runs demanded
  bool many_slow_pairs = false;  ///< so many pairs are slow that they are no exceptions, and none is blamed
  SharedLinks links;
  std::vector<std::int32_t> not_judged;  ///< hosts with too few readings to judge them
  std::vector<std::string> notes;        ///< for people: caveats
};

/// The leaf at a place such as Finding::leaf.
[[nodiscard]] inline const Group& leaf_at(const Verdict& verdict, std::int32_t place) {
  return verdict.groupings.at(0).groups.at(at(place));
}

/// What counts as slow.
struct VerdictSettings {
  double expected =
      0;  ///< rate to be reached by one direction of a pair of near hosts, in bytes per second; 0: not known
  /// If `expected` is not known: the share of the slower port's rate that a direction has to reach.
  double expected_of_port = 0;
  double tolerance = 0.05;    ///< a deficit up to this share is not blamed
  double false_alarm = 0.01;  ///< probability of one or more false findings in a sweep of healthy hosts
  int partners = 3;           ///< number of different partners with which a host has to be slow
  int pair_readings = 3;      ///< number of slow readings of a pair, after the first suspicious one, to blame it
};

}  // namespace fabricbench::cluster
