#include "cluster/tools/verdict_json.h"

#include <cstddef>
#include <vector>

#include "cluster/hosts/host_fold.h"
#include "cluster/report/device_words.h"
#include "cluster/report/finding_words.h"
#include "cluster/report/map_layout.h"
#include "cluster/report/verdict_lists.h"
#include "common/core/version.h"

namespace fabricbench::cluster {
namespace {

using Json = nlohmann::ordered_json;

Json rate_json(double rate) { return rate > 0 ? Json(rate / 1e9) : Json(nullptr); }

/// The name in a place; null where the place is negative or has no name.
Json named(const std::vector<std::string>& names, std::int32_t place) {
  if (place < 0) return nullptr;
  const std::string& name = names.at(static_cast<std::size_t>(place));
  return name.empty() ? Json(nullptr) : Json(name);
}

Json hosts_json(const Sweep& sweep, const std::vector<std::int32_t>& hosts) {
  Json names = Json::array();
  for (const std::int32_t host : hosts) names.push_back(sweep.hosts.at(static_cast<std::size_t>(host)));
  return names;
}

Json devices_json(const Sweep& sweep, const std::vector<std::int32_t>& devices) {
  Json all = Json::array();
  for (const std::int32_t place : devices) {
    const Device& device = sweep.devices.at(static_cast<std::size_t>(place));
    all.push_back({{"kind", name(device.kind)},
                   {"id", device.id},
                   {"name", device.name.empty() ? Json(nullptr) : Json(device.name)}});
  }
  return all;
}

Json group_name(const Verdict& verdict, std::int32_t group) {
  return group < 0 ? Json(nullptr) : Json(verdict.groupings.at(0).groups.at(static_cast<std::size_t>(group)).name);
}

Json list_json(const std::vector<std::string>& hosts) { return {{"folded", fold_hosts(hosts)}, {"hosts", hosts}}; }

Json lists_json(const HostLists& lists) {
  return {{"slow", list_json(lists.slow)},       {"dead", list_json(lists.dead)},
          {"cut_off", list_json(lists.cut_off)}, {"unsteady", list_json(lists.unsteady)},
          {"suspect", list_json(lists.suspect)}, {"not_judged", list_json(lists.not_judged)},
          {"fine", list_json(lists.fine)}};
}

Json commands_json(const std::vector<NextCommand>& commands) {
  Json all = Json::array();
  for (const NextCommand& each : commands) all.push_back({{"command", each.command}, {"purpose", each.purpose}});
  return all;
}

bool counts_slow_partners(Blame blame) {
  return blame == Blame::kHost || blame == Blame::kNic || blame == Blame::kDevice;
}

Json finding_json(const Sweep& sweep, const Verdict& verdict, const Finding& finding, const HostLists& lists) {
  const std::string open = open_question(sweep, verdict, finding);
  const bool measured = !has_no_figure(finding);
  return {{"blame", name(finding.blame)},
          {"direction", name(finding.direction)},
          {"hosts", hosts_json(sweep, finding.hosts)},
          {"rail", finding.other_rail < 0 ? named(sweep.rails, finding.rail) : Json(nullptr)},
          {"devices", devices_json(sweep, finding.devices)},
          {"leaf", group_name(verdict, finding.leaf)},
          {"other_leaf", group_name(verdict, finding.other_leaf)},
          {"text", sentence(sweep, verdict, finding)},
          {"percent_of_expected", measured ? Json(100 * finding.ratio) : Json(nullptr)},
          {"bandwidth_gb_per_s", rate_json(finding.rate)},
          {"expected_gb_per_s", rate_json(finding.expected)},
          {"readings", finding.readings},
          {"failed_readings", finding.failed},
          {"slow_meetings", finding.blame == Blame::kTransient ? Json(finding.slow) : Json(nullptr)},
          {"slow_rounds", finding.blame == Blame::kTransient ? Json(finding.slow_rounds) : Json(nullptr)},
          {"partners", finding.partners},
          {"slow_partners", counts_slow_partners(finding.blame) ? Json(finding.slow_partners) : Json(nullptr)},
          {"false_alarm_probability", finding.false_alarm},
          {"confirmed", finding.confirmed},
          {"reason", finding.reason.empty() ? Json(nullptr) : Json(finding.reason)},
          {"to_settle", open.empty() ? Json(nullptr) : Json(open)},
          {"next_commands", commands_json(next_commands(sweep, finding, lists.fine))}};
}

Json question_json(const Sweep& sweep, const Question& question) {
  return {{"host", named(sweep.hosts, question.host)},
          {"other_host", named(sweep.hosts, question.other)},
          {"rail", named(sweep.rails, question.rail)},
          {"readings", question.readings},
          {"why", question.why}};
}

Json stratum_json(const Sweep& sweep, const Verdict& verdict, const Stratum& stratum) {
  return {{"measured", named(sweep.kinds, stratum.kind)},
          {"from_rail", named(sweep.rails, stratum.from_rail)},
          {"to_rail", named(sweep.rails, stratum.to_rail)},
          {"both_ways", stratum.both_ways},
          {"same_leaf", verdict.groupings.empty() ? Json(nullptr) : Json(stratum.distance == 0)},
          {"distance", verdict.groupings.empty() ? Json(nullptr) : Json(stratum.distance)},
          {"slower_kind", verdict.kinds ? Json(stratum.slow_kind) : Json(nullptr)},
          {"readings", stratum.readings},
          {"centre_gb_per_s", rate_json(stratum.centre)},
          {"scale_percent", 100 * stratum.scale}};
}

Json group_json(const Sweep& sweep, const std::string& name, const std::vector<std::int32_t>& hosts) {
  std::vector<std::string> names;
  names.reserve(hosts.size());
  for (const std::int32_t host : hosts) names.push_back(sweep.hosts.at(static_cast<std::size_t>(host)));
  Json json = list_json(names);
  json["name"] = name;
  return json;
}

Json grouping_json(const Sweep& sweep, const Grouping& grouping) {
  Json groups = Json::array();
  for (const Group& group : grouping.groups) groups.push_back(group_json(sweep, group.name, group.hosts));
  return {{"given", grouping.is_given},
          {"across_percent_of_within", 100 * grouping.across},
          {"false_alarm_probability", grouping.false_alarm},
          {"groups", std::move(groups)}};
}

/// How hosts stand in a map.
Json order_json(const Sweep& sweep, const Verdict& verdict) {
  Json names = Json::array();
  for (const std::size_t host : map_layout(sweep, verdict).order) names.push_back(sweep.hosts.at(host));
  return names;
}

Json near_pairs_json(const Verdict& verdict) {
  if (!verdict.near_pairs) return nullptr;
  const NearPairs& near = *verdict.near_pairs;
  return {{"pairs", near.pairs}, {"pairs_measured", near.of}, {"faster_by_percent", 100 * near.faster_by}};
}

Json kinds_json(const Sweep& sweep, const Verdict& verdict) {
  if (!verdict.kinds) return nullptr;
  Json fast = group_json(sweep, "faster", verdict.kinds->fast);
  fast["bandwidth_gb_per_s"] = rate_json(verdict.kinds->fast_rate);
  Json slow = group_json(sweep, "slower", verdict.kinds->slow);
  slow["bandwidth_gb_per_s"] = rate_json(verdict.kinds->slow_rate);
  fast["direction"] = slow["direction"] = name(verdict.kinds->direction);
  return {std::move(fast), std::move(slow)};
}

}  // namespace

Json verdict_json(const Sweep& sweep, const Verdict& verdict, const VerdictSettings& settings,
                  std::span<const std::string> notices) {
  const HostLists lists = host_lists(sweep, verdict);
  Json findings = Json::array();
  for (const Finding& finding : verdict.findings) findings.push_back(finding_json(sweep, verdict, finding, lists));
  Json questions = Json::array();
  for (const Question& question : verdict.questions) questions.push_back(question_json(sweep, question));
  Json strata = Json::array();
  for (const Stratum& stratum : verdict.strata) strata.push_back(stratum_json(sweep, verdict, stratum));
  Json groupings = Json::array();
  for (const Grouping& grouping : verdict.groupings) groupings.push_back(grouping_json(sweep, grouping));
  return {{"kind", "slow_links"},
          {"schema_version", kSchemaVersion},
          {"fabricbench_version", kVersion},
          {"judged", name(verdict.judged)},
          {"headline", headline(sweep, verdict)},
          {"hosts", sweep.hosts.size()},
          {"readings", verdict.readings},
          {"failed_readings", verdict.failed},
          {"outliers_percent", 100 * verdict.outliers},
          {"failing_percent", 100 * verdict.failing},
          {"below_asked_percent", 100 * verdict.below_asked},
          {"alone_over_together", verdict.alone.ratio > 0 ? Json(verdict.alone.ratio) : Json(nullptr)},
          {"oversubscribed", is_oversubscribed(verdict)},
          {"tolerance_percent", 100 * settings.tolerance},
          {"false_alarm_percent", 100 * settings.false_alarm},
          {"lists", lists_json(lists)},
          {"findings", std::move(findings)},
          {"questions", std::move(questions)},
          {"strata", std::move(strata)},
          {"groupings", std::move(groupings)},
          {"locality_contradicted_by",
           verdict.contradiction ? grouping_json(sweep, *verdict.contradiction) : Json(nullptr)},
          {"groups_are_open", verdict.groups_are_open},
          {"near_pairs", near_pairs_json(verdict)},
          {"kinds", kinds_json(sweep, verdict)},
          {"order", order_json(sweep, verdict)},
          {"notes", verdict.notes},
          {"notices", std::vector<std::string>(notices.begin(), notices.end())}};
}

}  // namespace fabricbench::cluster
