// The verdict as find_slow_links --json writes it: hosts, rails and leaves by name.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cluster/readings.h"
#include "cluster/verdict.h"
#include "common/core/version.h"
#include "common/record/field.h"

namespace fabricbench::cluster {

/// Hosts as a list, and folded as Slurm writes them.
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

/// Every host is in one of them.
struct ListsRecord {
  HostSet slow;
  HostSet dead;
  HostSet cut_off;
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
  double scale = 0;   ///< of it, a standard deviation
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

/// `notices`: messages that were printed as well.
[[nodiscard]] VerdictRecord record_of(const Sweep& sweep, const Verdict& verdict, const VerdictSettings& settings,
                                      std::span<const std::string> notices);

/// What goes before the other fields of a set of hosts.
template <typename Form, typename Set>
void describe_hosts(Form& form, Set& set) {
  form("folded", set.folded, "as Slurm writes them, such as `node[01-03,07]`");
  form("hosts", set.hosts, "by name");
}

template <typename Form, record::Of<HostSet> Record>
void describe(Form& form, Record& set) {
  form.part("host_list", "A list of hosts");
  describe_hosts(form, set);
}

template <typename Form, record::Of<NamedHosts> Record>
void describe(Form& form, Record& group) {
  form.part("host_group", "One group of hosts");
  describe_hosts(form, group.set);
  form("name", group.name, "of a locality its own; else `group 1` and so on");
}

template <typename Form, record::Of<HostKindRecord> Record>
void describe(Form& form, Record& kind) {
  using namespace record;
  form.part("host_kind", "One of two kinds of hosts");
  describe_hosts(form, kind.set);
  form("name", kind.name, "`faster` or `slower`");
  form("bandwidth_gb_per_s", null_if_none(gb_per_s(kind.rate)), "the median");
  form("direction", kind.direction, "in which they differ");
}

template <typename Form, record::Of<ListsRecord> Record>
void describe(Form& form, Record& lists) {
  form.part("host_lists", "Every host is in one; where everything is slower than expected, none is in `fine`");
  form("slow", lists.slow, "or a NIC of it is");
  form("dead", lists.dead, "");
  form("cut_off", lists.cut_off, "");
  form("unsteady", lists.unsteady, "");
  form("suspect", lists.suspect, "more readings, or a locality, would tell");
  form("not_judged", lists.not_judged, "too few readings");
  form("fine", lists.fine, "");
}

template <typename Form, record::Of<DeviceRecord> Record>
void describe(Form& form, Record& device) {
  using namespace record;
  form.part("device", "A GPU, NIC or switch port");
  form("kind", device.kind, "");
  form("id", device.id, "GUID, UUID or port; `node07/mlx5_2` where that is not known");
  form("name", null_if_none(device.name), "on its host");
}

template <typename Form, record::Of<CommandRecord> Record>
void describe(Form& form, Record& command) {
  form.part("next_command", "What to run next");
  form("command", command.command, "for a shell");
  form("purpose", command.purpose, "");
}

template <typename Form, record::Of<FindingRecord> Record>
void describe(Form& form, Record& finding) {
  using namespace record;
  form.part("slow_link", "Something that is slow or does not work");
  form("blame", finding.blame, "`SLOW HOST` to `CANNOT TELL` above");
  form("direction", finding.direction, "of a pair, `sends` is from the first of `hosts` to the second");
  form("hosts", finding.hosts,
       "one; the two of a pair; all suspects if undecided; none of leaves and rails; of a `device` those that are slow "
       "over it");
  form("rail", null_if_none(finding.rail), "by name; null where the finding is of none");
  form(
      "devices", finding.devices,
      "of a `device` what is to blame, several where they were always used together; else what all readings of the one "
      "host, or of its rail, went through, as far as it is known");
  form("leaf", null_if_none(finding.leaf), "by name; null where the finding is of none");
  form("other_leaf", null_if_none(finding.other_leaf), "by name; null where the finding is of none");
  form("text", finding.text, "a sentence for people");
  form("percent_of_expected", percent(finding.ratio),
       "the median share of what was expected of each reading; null where there is no figure");
  form("bandwidth_gb_per_s", null_if_none(gb_per_s(finding.rate)), "that share of the expectation");
  form("expected_gb_per_s", null_if_none(gb_per_s(finding.expected)),
       "the expectation, the median of what is healthy and comparable");
  form("readings", natural(finding.readings), "on which it rests; of `transient` hosts, meetings");
  form("failed_readings", natural(finding.failed), "of them, those without a figure");
  form("slow_meetings", finding.slow_meetings, "of `transient`: how many were slow or failed");
  form("slow_rounds", finding.slow_rounds, "of `transient`: in which rounds");
  form("partners", natural(finding.partners),
       "different ones; of `leaf` and `rail` their own hosts, of `transient` those of slow meetings");
  form("slow_partners", finding.slow_partners,
       "of a `host`, `nic` or `device`: with how many of them it is slow, either way");
  form("false_alarm_probability", finding.false_alarm,
       "that chance alone shows anything like it anywhere in such a sweep, all that was looked at counted");
  form("confirmed", finding.confirmed, "it was slow or failed, and in a later round, alone in the network, again");
  form("reason", null_if_none(finding.reason), "of failures, as the first record told it");
  form("to_settle", null_if_none(finding.to_settle), "readings that would decide what is open");
  form("next_commands", finding.next_commands, "what to run next");
}

template <typename Form, record::Of<QuestionRecord> Record>
void describe(Form& form, Record& question) {
  using namespace record;
  form.part("question", "What further readings would decide");
  form("host", null_if_none(question.host), "of which host");
  form("other_host", null_if_none(question.other_host), "with which; null: with any that is fine");
  form("rail", null_if_none(question.rail), "over which");
  form("readings", natural(question.readings), "how many more, at least");
  form("why", question.why, "for people");
}

template <typename Form, record::Of<StratumRecord> Record>
void describe(Form& form, Record& stratum) {
  using namespace record;
  form.part("stratum", "Readings that are comparable");
  form("measured", null_if_none(stratum.measured), "test and size");
  form("from_rail", null_if_none(stratum.from_rail), "");
  form("to_rail", null_if_none(stratum.to_rail), "");
  form("both_ways", stratum.both_ways, "a figure is of both directions together");
  form("same_leaf", stratum.same_leaf, "null where there are no groups");
  form("distance", stratum.distance, "by how many `groupings` both hosts are apart; null where there are none");
  form("slower_kind", stratum.slower_kind, "one host or both are of the slower kind; null where there is one kind");
  form("readings", natural(stratum.readings), "");
  form("centre_gb_per_s", null_if_none(gb_per_s(stratum.centre)), "of a healthy one");
  form("scale_percent", percent(stratum.scale), "how much healthy ones spread, a standard deviation");
}

template <typename Form, record::Of<GroupingRecord> Record>
void describe(Form& form, Record& grouping) {
  using namespace record;
  form.part("grouping", "Groups of hosts that are fast among each other");
  form("given", grouping.is_given, "by a locality");
  form("across_percent_of_within", percent(grouping.across), "the rate between groups, of that within");
  form("false_alarm_probability", grouping.false_alarm,
       "how likely hosts without groups would look like this; 0 of a locality");
  form("groups", grouping.groups, "");
}

template <typename Form, record::Of<NearPairsRecord> Record>
void describe(Form& form, Record& near) {
  using namespace record;
  form.part("near_pairs", "Small groups that show only as some pairs that are faster than the others");
  form("pairs", natural(near.pairs), "that are faster");
  form("pairs_measured", natural(near.measured), "");
  form("faster_by_percent", percent(near.faster_by), "the median");
}

template <typename Form, record::Of<VerdictRecord> Record>
void describe(Form& form, Record& verdict) {
  using namespace record;
  form.line("slow_links", "All that find_slow_links writes with `--json`");
  form.derived("schema_version", kSchemaVersion, "");
  form.derived("fabricbench_version", kVersion, "what judged");
  form("judged", verdict.judged, "");
  form("headline", verdict.headline, "for people");
  form("hosts", natural(verdict.hosts), "of the sweep");
  form("readings", natural(verdict.readings), "");
  form("failed_readings", natural(verdict.failed), "of them, those without a figure");
  form("outliers_percent", percent(verdict.outliers), "of the readings that nobody is blamed for: slow");
  form("failing_percent", percent(verdict.failing), "of all readings: failed, and nobody is blamed for them");
  form("below_asked_percent", percent(verdict.below_asked),
       "of all readings: below the `--min-bandwidth` of their runs, as their `status` says");
  form("alone_over_together", null_if_none(verdict.alone_over_together),
       "the rate of a pair alone over that of the same pair among many, the median; null: not measured both ways");
  form("oversubscribed", verdict.oversubscribed,
       "whether that, or that of hosts of different groups, is above 1/0.97, and by more than chance");
  form("tolerance_percent", percent(verdict.tolerance), "as asked for");
  form("false_alarm_percent", percent(verdict.false_alarm), "as asked for");
  form("lists", verdict.lists, "");
  form("findings", verdict.findings, "the largest deficit first");
  form("questions", verdict.questions, "what further readings would decide");
  form("strata", verdict.strata, "readings that are comparable");
  form("groupings", verdict.groupings, "groups of hosts that are fast among each other, the finest first");
  form("locality_contradicted_by", verdict.contradiction, "groups that the readings show against the locality");
  form("groups_are_open", verdict.groups_are_open,
       "more rounds for everybody would tell which hosts are near each other");
  form("near_pairs", verdict.near_pairs, "");
  form("kinds", verdict.kinds, "two kinds of hosts, where half of them or more are slower with everybody");
  form("order", verdict.order, "all hosts as they stand in a map, see above");
  form("notes", verdict.notes, "for people: what to know of the readings before believing the rest");
  form("notices", verdict.notices, "for people: what was left out, and why");
}

}  // namespace fabricbench::cluster
