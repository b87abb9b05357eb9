// The verdict in the form of find_slow_links --json: hosts, rails and leaves by name.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cluster/pairs/readings.h"
#include "cluster/pairs/verdict.h"
#include "common/core/version.h"
#include "common/record/field.h"

namespace fabricbench::cluster {

/// Hosts as a list, and folded in Slurm's notation.
struct HostSet {
  std::vector<std::string> hosts;
  std::string folded;
};

struct NamedHosts {
  HostSet set;
  std::string name;
};

/// One of two kinds of hosts.
struct HostKindRecord {
  HostSet set;
  std::string name;  ///< `faster` or `slower`
  double rate = 0;   ///< bytes per second, the median
  Direction direction = Direction::kBoth;
};

/// Every host is in one of these lists.
struct ListsRecord {
  HostSet slow;
  HostSet dead;
  HostSet cut_off;
  HostSet wrong_data;
  HostSet unsteady;
  HostSet suspect;
  HostSet not_judged;
  HostSet fine;
};

struct DeviceRecord {
  DeviceKind kind = DeviceKind::kNic;
  std::string id;
  std::string name;
};

struct CommandRecord {
  std::string command;
  std::string purpose;
};

struct FindingRecord {
  Blame blame = Blame::kUndecided;
  Direction direction = Direction::kBoth;
  std::vector<std::string> hosts;
  std::string rail;
  std::vector<DeviceRecord> devices;
  std::string leaf;
  std::string other_leaf;
  std::string text;
  std::optional<double> ratio;
  double rate = 0;      ///< bytes per second
  double expected = 0;  ///< bytes per second
  std::int64_t readings = 0;
  std::int64_t failed = 0;
  std::optional<std::int64_t> slow_meetings;
  std::optional<std::vector<std::int32_t>> slow_rounds;
  std::int64_t partners = 0;
  std::optional<std::int64_t> slow_partners;
  double false_alarm = 1;
  bool confirmed = false;
  std::string reason;
  std::string to_settle;
  std::vector<CommandRecord> next_commands;
};

struct QuestionRecord {
  std::string host;
  std::string other_host;
  std::string rail;
  std::int64_t readings = 0;
  std::string why;
};

struct StratumRecord {
  std::string measured;
  std::string from_rail;
  std::string to_rail;
  bool both_ways = false;
  std::optional<bool> same_leaf;
  std::optional<std::int64_t> distance;
  std::optional<bool> slower_kind;
  std::int64_t readings = 0;
  double centre = 0;  ///< bytes per second
  double scale = 0;   ///< relative standard deviation
};

struct GroupingRecord {
  bool is_given = false;
  double across = 1;
  double false_alarm = 0;
  std::vector<NamedHosts> groups;
};

struct NearPairsRecord {
  std::int64_t pairs = 0;
  std::int64_t measured = 0;
  double faster_by = 0;
};

struct VerdictRecord {
  Judged judged = Judged::kUnknown;
  std::string headline;
  std::int64_t hosts = 0;
  std::int64_t readings = 0;
  std::int64_t failed = 0;
  double outliers = 0;
  double failing = 0;
  double below_asked = 0;
  double alone_over_together = 0;
  bool oversubscribed = false;
  double tolerance = 0;
  double false_alarm = 0;
  ListsRecord lists;
  std::vector<FindingRecord> findings;
  std::vector<QuestionRecord> questions;
  std::vector<StratumRecord> strata;
  std::vector<GroupingRecord> groupings;
  std::optional<GroupingRecord> contradiction;
  bool groups_are_open = false;
  std::optional<NearPairsRecord> near_pairs;
  std::optional<std::vector<HostKindRecord>> kinds;
  std::vector<std::string> order;
  std::vector<std::string> notes;
  std::vector<std::string> notices;
};

/// `notices` are the other messages for readers.
[[nodiscard]] VerdictRecord record_of(const Sweep& sweep, const Verdict& verdict, const VerdictSettings& settings,
                                      std::span<const std::string> notices);

/// The first fields of every set of hosts.
template <typename Visitor, typename Set>
void describe_hosts(Visitor& visitor, Set& set) {
  visitor("folded", set.folded, "in Slurm's notation, such as `node[01-03,07]`");
  visitor("hosts", set.hosts, "names of the hosts");
}

template <typename Visitor, record::Of<HostSet> Record>
void describe(Visitor& visitor, Record& set) {
  visitor.part("host_list", "A list of hosts");
  describe_hosts(visitor, set);
}

template <typename Visitor, record::Of<NamedHosts> Record>
void describe(Visitor& visitor, Record& group) {
  visitor.part("host_group", "One group of hosts");
  describe_hosts(visitor, group.set);
  visitor("name", group.name, "name from the locality; else `group 1` and so on");
}

template <typename Visitor, record::Of<HostKindRecord> Record>
void describe(Visitor& visitor, Record& kind) {
  using namespace record;
  visitor.part("host_kind", "One of two kinds of hosts");
  describe_hosts(visitor, kind.set);
  visitor("name", kind.name, "`faster` or `slower`");
  visitor("bandwidth_gb_per_s", null_if_none(gb_per_s(kind.rate)), "median bandwidth");
  visitor("direction", kind.direction, "direction in which the kinds differ");
}

template <typename Visitor, record::Of<ListsRecord> Record>
void describe(Visitor& visitor, Record& lists) {
  visitor.part("host_lists", "Every host is in one list; if everything is slower than expected, `fine` is empty");
  visitor("slow", lists.slow, "slow hosts, and hosts with a slow NIC");
  visitor("dead", lists.dead, "hosts that failed with all partners");
  visitor("cut_off", lists.cut_off, "hosts that work only with each other");
  visitor("wrong_data", lists.wrong_data, "hosts whose data arrived wrong");
  visitor("unsteady", lists.unsteady, "hosts that are slow or fail now and then");
  visitor("suspect", lists.suspect, "more readings, or a locality, would decide");
  visitor("not_judged", lists.not_judged, "too few readings");
  visitor("fine", lists.fine, "hosts without a fault");
}

template <typename Visitor, record::Of<DeviceRecord> Record>
void describe(Visitor& visitor, Record& device) {
  using namespace record;
  visitor.part("device", "A GPU, NIC or switch port");
  visitor("kind", device.kind, "kind of device");
  visitor("id", device.id, "GUID, UUID or port; `node07/mlx5_2` if that is unknown");
  visitor("name", null_if_none(device.name), "name on its host");
}

template <typename Visitor, record::Of<CommandRecord> Record>
void describe(Visitor& visitor, Record& command) {
  visitor.part("next_command", "A command to run next");
  visitor("command", command.command, "command for a shell");
  visitor("purpose", command.purpose, "what the command is for");
}

template <typename Visitor, record::Of<FindingRecord> Record>
void describe(Visitor& visitor, Record& finding) {
  using namespace record;
  visitor.part("slow_link", "Something slow or broken");
  visitor("blame", finding.blame, "the kind of finding");
  visitor("direction", finding.direction, "for a pair, `sends` is from the first of `hosts` to the second");
  visitor("hosts", finding.hosts,
          "one; the two of a pair; all suspects if undecided; none for leaves and rails; for a `device` the hosts slow "
          "over it");
  visitor("rail", null_if_none(finding.rail), "name of the rail; null: not about a rail");
  visitor("devices", finding.devices,
          "for a `device` the culprit, or several that were always used together; else the known devices that all "
          "readings of "
          "the host, or of its rail, used");
  visitor("leaf", null_if_none(finding.leaf), "name of the leaf; null: not about a leaf");
  visitor("other_leaf", null_if_none(finding.other_leaf), "name of the second leaf; null: not about two leaves");
  visitor("text", finding.text, "one sentence for readers");
  visitor("percent_of_expected", percent(finding.ratio),
          "median over readings of the bandwidth relative to the expected one; null without a figure");
  visitor("bandwidth_gb_per_s", null_if_none(gb_per_s(finding.rate)),
          "`percent_of_expected` of the expected bandwidth");
  visitor("expected_gb_per_s", null_if_none(gb_per_s(finding.expected)),
          "expected bandwidth: the median of healthy, comparable readings");
  visitor("readings", natural(finding.readings), "number of readings it is based on; for `transient` hosts, meetings");
  visitor("failed_readings", natural(finding.failed), "those without a figure");
  visitor("slow_meetings", finding.slow_meetings, "for `transient`: number of slow or failed meetings");
  visitor("slow_rounds", finding.slow_rounds, "for `transient`: rounds of these meetings");
  visitor(
      "partners", natural(finding.partners),
      "number of different peers; for `leaf` and `rail` their own hosts, for `transient` the peers of slow meetings");
  visitor("slow_partners", finding.slow_partners,
          "for a `host`, `nic` or `device`: number of peers with which it is slow in either direction");
  visitor(
      "false_alarm_probability", finding.false_alarm,
      "probability that chance alone produces such a finding anywhere in a sweep, corrected for all comparisons made");
  visitor("confirmed", finding.confirmed, "slow or failed again in a later round without other traffic");
  visitor("reason", null_if_none(finding.reason), "reason of failures, from the first record");
  visitor("to_settle", null_if_none(finding.to_settle), "readings that would settle the open question");
  visitor("next_commands", finding.next_commands, "commands to run next");
}

template <typename Visitor, record::Of<QuestionRecord> Record>
void describe(Visitor& visitor, Record& question) {
  using namespace record;
  visitor.part("question", "An open question that further readings would decide");
  visitor("host", null_if_none(question.host), "host to measure");
  visitor("other_host", null_if_none(question.other_host), "its peer; null: any healthy host");
  visitor("rail", null_if_none(question.rail), "rail to use");
  visitor("readings", natural(question.readings), "minimum number of further readings");
  visitor("why", question.why, "reason, for readers");
}

template <typename Visitor, record::Of<StratumRecord> Record>
void describe(Visitor& visitor, Record& stratum) {
  using namespace record;
  visitor.part("stratum", "A set of comparable readings");
  visitor("measured", null_if_none(stratum.measured), "test and size");
  visitor("from_rail", null_if_none(stratum.from_rail), "rail of the senders, null: any");
  visitor("to_rail", null_if_none(stratum.to_rail), "rail of the receivers, null: any");
  visitor("both_ways", stratum.both_ways, "whether a figure is the sum of both directions");
  visitor("same_leaf", stratum.same_leaf, "both hosts behind the same leaf; null without groups");
  visitor("distance", stratum.distance, "number of `groupings` that separate the two hosts; null without groupings");
  visitor("slower_kind", stratum.slower_kind, "at least one host is of the slower kind; null if there is one kind");
  visitor("readings", natural(stratum.readings), "number of readings");
  visitor("centre_gb_per_s", null_if_none(gb_per_s(stratum.centre)), "bandwidth of a healthy reading");
  visitor("scale_percent", percent(stratum.scale), "relative standard deviation of healthy readings");
}

template <typename Visitor, record::Of<GroupingRecord> Record>
void describe(Visitor& visitor, Record& grouping) {
  using namespace record;
  visitor.part("grouping", "Groups of hosts that are fast among each other");
  visitor("given", grouping.is_given, "whether a locality gave the groups");
  visitor("across_percent_of_within", percent(grouping.across),
          "bandwidth between groups relative to that within them");
  visitor("false_alarm_probability", grouping.false_alarm,
          "probability that hosts without groups show such a pattern; 0 for a locality");
  visitor("groups", grouping.groups, "the groups of hosts");
}

template <typename Visitor, record::Of<NearPairsRecord> Record>
void describe(Visitor& visitor, Record& near) {
  using namespace record;
  visitor.part("near_pairs", "Small groups that show only as pairs faster than the others");
  visitor("pairs", natural(near.pairs), "number of faster pairs");
  visitor("pairs_measured", natural(near.measured), "number of pairs measured");
  visitor("faster_by_percent", percent(near.faster_by), "median");
}

template <typename Visitor, record::Of<VerdictRecord> Record>
void describe(Visitor& visitor, Record& verdict) {
  using namespace record;
  visitor.line("slow_links", "All that find_slow_links writes with `--json`");
  visitor.derived("schema_version", kSchemaVersion, "version of the keys");
  visitor.derived("fabricbench_version", kVersion, "what judged");
  visitor("judged", verdict.judged, "the verdict in a word");
  visitor("headline", verdict.headline, "one sentence for readers");
  visitor("hosts", natural(verdict.hosts), "number of hosts in the sweep");
  visitor("readings", natural(verdict.readings), "number of readings that were judged");
  visitor("failed_readings", natural(verdict.failed), "those without a figure");
  visitor("outliers_percent", percent(verdict.outliers), "share of slow readings among those that no finding explains");
  visitor("failing_percent", percent(verdict.failing),
          "share of failed readings that no finding explains, among all readings");
  visitor("below_asked_percent", percent(verdict.below_asked),
          "share of all readings below the `--min-bandwidth` of their runs, by `status`");
  visitor("alone_over_together", null_if_none(verdict.alone_over_together),
          "median bandwidth of slow pairs alone relative to that among all others afterwards; null: not measured");
  visitor("oversubscribed", verdict.oversubscribed, "whether pairs share links: they are clearly faster alone");
  visitor("tolerance_percent", percent(verdict.tolerance), "value of `--tolerance`");
  visitor("false_alarm_percent", percent(verdict.false_alarm), "value of `--false-alarm`");
  visitor("lists", verdict.lists, "all hosts and paths by state");
  visitor("findings", verdict.findings, "findings, most hosts times deficit first");
  visitor("questions", verdict.questions, "open questions that further readings would decide");
  visitor("strata", verdict.strata, "sets of comparable readings");
  visitor("groupings", verdict.groupings, "groups of hosts that are fast among each other, finest first");
  visitor("locality_contradicted_by", verdict.contradiction, "groups in the readings that contradict the locality");
  visitor("groups_are_open", verdict.groups_are_open,
          "whether more rounds for all hosts are needed to find groups of near hosts");
  visitor("near_pairs", verdict.near_pairs, "pairs whose hosts are near each other");
  visitor("kinds", verdict.kinds, "two kinds of hosts, if at least half of the hosts are slower with all others");
  visitor("order", verdict.order, "all hosts in the order of the map, see above");
  visitor("notes", verdict.notes, "caveats on the readings, for readers");
  visitor("notices", verdict.notices, "left-out data with reasons, for readers");
}

}  // namespace fabricbench::cluster
