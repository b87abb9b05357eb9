#include "cluster/command/verdict_record.h"

#include <cstddef>

#include "cluster/hosts/host_list.h"
#include "cluster/pairs/report/verdict_text.h"

namespace fabricbench::cluster {
namespace {

/// The name at an index; empty if the index is negative.
std::string named_in(const std::vector<std::string>& names, std::int32_t place) {
  return place < 0 ? "" : names.at(static_cast<std::size_t>(place));
}

HostSet set_of(const std::vector<std::string>& hosts) { return {hosts, fold_hosts(hosts)}; }

ListsRecord record_of(const HostLists& lists) {
  return {set_of(lists.slow),     set_of(lists.dead),    set_of(lists.cut_off),    set_of(lists.wrong_data),
          set_of(lists.unsteady), set_of(lists.suspect), set_of(lists.not_judged), set_of(lists.fine)};
}

std::string leaf_name(const Verdict& verdict, std::int32_t leaf) { return leaf < 0 ? "" : leaf_at(verdict, leaf).name; }

FindingRecord record_of(const Sweep& sweep, const Verdict& verdict, const Finding& finding, const HostLists& lists) {
  FindingRecord record;
  record.blame = finding.blame;
  record.direction = finding.direction;
  record.hosts = sweep.names_of(finding.hosts);
  if (finding.other_rail < 0) record.rail = named_in(sweep.rails, finding.rail);
  for (const std::int32_t place : finding.devices) {
    const Device& device = sweep.devices.at(static_cast<std::size_t>(place));
    record.devices.push_back({device.kind, device.id, device.name});
  }
  record.leaf = leaf_name(verdict, finding.leaf);
  record.other_leaf = leaf_name(verdict, finding.other_leaf);
  record.text = sentence(sweep, verdict, finding);
  if (!has_no_figure(finding)) record.ratio = finding.ratio;
  record.rate = finding.rate;
  record.expected = finding.expected;
  record.readings = finding.readings;
  record.failed = finding.failed;
  if (finding.blame == Blame::kTransient) {
    record.slow_meetings = finding.slow;
    record.slow_rounds = finding.slow_rounds;
  }
  record.partners = finding.partners;
  if (finding.slow_partners > 0) record.slow_partners = finding.slow_partners;
  record.false_alarm = finding.false_alarm;
  record.confirmed = finding.confirmed;
  record.reason = finding.reason;
  record.to_settle = open_follow_up(sweep, verdict, finding);
  for (const NextCommand& each : next_commands(sweep, verdict, finding, lists.fine)) {
    record.next_commands.push_back({each.command, each.purpose});
  }
  return record;
}

QuestionRecord record_of(const Sweep& sweep, const FollowUp& follow_up) {
  return {named_in(sweep.hosts, follow_up.host), named_in(sweep.hosts, follow_up.other),
          named_in(sweep.rails, follow_up.rail), follow_up.readings, follow_up.why};
}

StratumRecord record_of(const Sweep& sweep, const Verdict& verdict, const Stratum& stratum) {
  StratumRecord record;
  record.measured = named_in(sweep.tests, stratum.test);
  record.from_rail = named_in(sweep.rails, stratum.from_rail);
  record.to_rail = named_in(sweep.rails, stratum.to_rail);
  record.both_ways = stratum.both_ways;
  if (!verdict.groupings.empty()) {
    record.same_leaf = stratum.distance == 0;
    record.distance = stratum.distance;
  }
  if (verdict.kinds) record.slower_kind = stratum.slow_kind;
  record.readings = stratum.readings;
  record.centre = stratum.centre;
  record.scale = stratum.scale;
  return record;
}

GroupingRecord record_of(const Sweep& sweep, const Grouping& grouping) {
  GroupingRecord record{grouping.is_given, grouping.across, grouping.false_alarm, {}};
  for (const Group& group : grouping.groups) {
    record.groups.push_back({set_of(sweep.names_of(group.hosts)), group.name});
  }
  return record;
}

std::optional<std::vector<HostKindRecord>> kinds_of(const Sweep& sweep, const Verdict& verdict) {
  if (!verdict.kinds) return std::nullopt;
  const auto& kinds = *verdict.kinds;
  return std::vector<HostKindRecord>{{set_of(sweep.names_of(kinds.fast)), "faster", kinds.fast_rate, kinds.direction},
                                     {set_of(sweep.names_of(kinds.slow)), "slower", kinds.slow_rate, kinds.direction}};
}

}  // namespace

VerdictRecord record_of(const Sweep& sweep, const Verdict& verdict, const VerdictSettings& settings,
                        std::span<const std::string> notices) {
  const HostLists lists = host_lists(sweep, verdict);
  VerdictRecord record;
  record.judged = verdict.judged;
  record.headline = headline(sweep, verdict);
  record.hosts = static_cast<std::int64_t>(sweep.hosts.size());
  record.readings = verdict.readings;
  record.failed = verdict.failed;
  record.outliers = verdict.outliers;
  record.failing = verdict.failing;
  record.below_asked = verdict.below_asked;
  record.alone_over_together = verdict.links.readings > 0 ? verdict.links.alone / verdict.links.beside : 0;
  record.oversubscribed = verdict.links.are_shared;
  record.tolerance = settings.tolerance;
  record.false_alarm = settings.false_alarm;
  record.lists = record_of(lists);
  for (const Finding& each : verdict.findings) record.findings.push_back(record_of(sweep, verdict, each, lists));
  for (const FollowUp& each : verdict.follow_ups) record.questions.push_back(record_of(sweep, each));
  for (const Stratum& each : verdict.strata) record.strata.push_back(record_of(sweep, verdict, each));
  for (const Grouping& each : verdict.groupings) record.groupings.push_back(record_of(sweep, each));
  if (verdict.contradiction) record.contradiction = record_of(sweep, *verdict.contradiction);
  record.groups_are_open = verdict.groups_are_open;
  if (const auto& near = verdict.near_pairs) record.near_pairs = {near->pairs, near->of, near->faster_by};
  record.kinds = kinds_of(sweep, verdict);
  for (const std::size_t host : map_layout(sweep, verdict).order) record.order.push_back(sweep.hosts.at(host));
  record.notes = verdict.notes;
  record.notices.assign(notices.begin(), notices.end());
  return record;
}

}  // namespace fabricbench::cluster
