#include "cluster/sweep/steps.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/pairs/attribution/attribution.h"
#include "cluster/pairs/report/verdict_text.h"
#include "common/core/error.h"
#include "common/core/plain_text.h"

namespace fabricbench::sweep {
namespace {

constexpr std::int64_t kStepsOfRound = 2;  // there and back
constexpr std::size_t kMostReasons = 10000;

template <typename Visit>
void for_each_flow(const SweepStep& step, const Visit& visit) {
  for (const auto& [first, second] : step.meetings) visit(step.back ? second : first, step.back ? first : second);
}

cluster::Outcome outcome_of(ReadingStatus status) {
  switch (status) {
    case ReadingStatus::kOk:
    case ReadingStatus::kSlow: return cluster::Outcome::kMeasured;
    case ReadingStatus::kNotTried: return cluster::Outcome::kNotTried;
    case ReadingStatus::kWrong: return cluster::Outcome::kWrong;
    case ReadingStatus::kTimeout:
    case ReadingStatus::kFailed: break;
  }
  return cluster::Outcome::kFailed;
}

SweepFinding reported_finding(const cluster::Finding& finding, const cluster::Verdict& verdict,
                              const cluster::Sweep& sweep) {
  SweepFinding reported;
  reported.blame = name(finding.blame);
  reported.direction = name(finding.direction);
  reported.endpoints = sweep.names_of(finding.hosts);
  reported.ratio = finding.ratio;
  reported.rate = finding.rate;
  reported.expected = finding.expected;
  reported.readings = finding.readings;
  reported.failed = finding.failed;
  reported.partners = finding.partners;
  reported.text = fmt::format("{}; {}; {}", cluster::sentence(sweep, verdict, finding),
                              cluster::extent(sweep, {&finding}), cluster::evidence(finding));
  return reported;
}

}  // namespace

SchedulePlan plan_of(const Options& options, int endpoints, std::uint64_t seed) {
  return {options.sweep.schedule, endpoints, seed, static_cast<int>(options.sweep.rounds),
          static_cast<int>(options.concurrent)};
}

ScheduledSteps::ScheduledSteps(const Options& options, int endpoints, std::uint64_t seed)
    : schedule_(plan_of(options, endpoints, seed)),
      per_round_(options.sweep.schedule == ScheduleKind::kShift ? 1 : kStepsOfRound) {}

SweepStep ScheduledSteps::step(std::int64_t number) const {
  const std::int64_t round = number / per_round_;
  return {number, round, number % per_round_ == 1, schedule_.round(round)};
}

Flows flows_of(const SweepStep& step, int endpoint) {
  Flows flows;
  for_each_flow(step, [&](int sender, int receiver) {
    if (sender == endpoint) flows.to = receiver;
    if (receiver == endpoint) flows.from = sender;
  });
  return flows;
}

std::vector<Flows> flows_of_all(const SweepStep& step, int endpoints) {
  std::vector<Flows> flows(static_cast<std::size_t>(endpoints));
  for_each_flow(step, [&](int sender, int receiver) {
    flows[static_cast<std::size_t>(sender)].to = receiver;
    flows[static_cast<std::size_t>(receiver)].from = sender;
  });
  return flows;
}

cluster::SweepPlan sweep_plan_of(const Options& options, int endpoints, std::uint64_t seed) {
  cluster::SweepPlan plan;
  plan.schedule = plan_of(options, endpoints, seed);
  plan.find = options.sweep.find;
  plan.both_directions = true;
  plan.tolerance = options.sweep.tolerance;
  const bool is_given = options.has_given({"rounds"});
  const auto rounds = static_cast<int>(options.sweep.rounds);
  if (!options.sweep.find || is_given) {
    cluster::limit_rounds(plan, rounds == 0 ? cluster::SweepPlan::kAllPairs : rounds);
  }
  return plan;
}

std::int64_t most_rounds(const Options& options, int endpoints) {
  if (!options.sweep.find) return Schedule(plan_of(options, endpoints, 0)).rounds();
  const cluster::SweepPlan plan = sweep_plan_of(options, endpoints, 0);
  SchedulePlan schedule = plan.schedule;
  schedule.rounds = std::max(plan.most_rounds, plan.most_rounds_for_groups);
  return Schedule(schedule).rounds();
}

PlannedSteps::PlannedSteps(const Options& options, const std::vector<NamedEndpoint>& endpoints, std::uint64_t seed,
                           const Measured& measured, std::function<void(const SweepRound&)> tell)
    : options_(options), tell_(std::move(tell)) {
  name_endpoints(endpoints, measured);
  group_by_host(endpoints);
  sweep_.tests = {"pairwise_bw"};
  sweep_.readings = measured.readings;
  taken_over_ = static_cast<std::int64_t>(measured.readings.size());
  cluster::SweepPlan plan = sweep_plan_of(options, static_cast<int>(sweep_.hosts.size()), seed);
  for (std::size_t host = 0; host < endpoint_of_.size(); ++host) {
    if (endpoint_of_[host] < 0) plan.absent.push_back(static_cast<std::int32_t>(host));
  }
  planner_.emplace(std::move(plan));
}

/// Hosts of the earlier jobs keep their places, which determine the schedule; new hosts come after them.
void PlannedSteps::name_endpoints(const std::vector<NamedEndpoint>& endpoints, const Measured& measured) {
  std::unordered_map<std::string, std::int32_t> places;
  for (const std::string& host : measured.hosts) {
    places.emplace(host, static_cast<std::int32_t>(sweep_.hosts.size()));
    sweep_.hosts.push_back(host);
  }
  endpoint_of_.assign(sweep_.hosts.size(), -1);
  bool knows_any = measured.hosts.empty();
  for (const NamedEndpoint& endpoint : endpoints) {
    const auto [place, is_new] = places.try_emplace(endpoint.name, static_cast<std::int32_t>(sweep_.hosts.size()));
    if (is_new) {
      sweep_.hosts.push_back(endpoint.name);
      endpoint_of_.push_back(-1);
    }
    knows_any = knows_any || !is_new;
    endpoint_of_[static_cast<std::size_t>(place->second)] = static_cast<int>(host_of_.size());
    host_of_.push_back(place->second);
  }
  if (knows_any) return;
  throw UsageError(fmt::format(
      "--measured {}: its {} hosts, {} first, include none of this job's, {} first; use the same host names in both",
      options_.sweep.measured_file, measured.hosts.size(), measured.hosts.front(), endpoints.front().name));
}

/// If hosts have several endpoints, bandwidths within a host are not compared with those between hosts.
void PlannedSteps::group_by_host(const std::vector<NamedEndpoint>& endpoints) {
  const bool alike =
      std::ranges::all_of(endpoints, [](const NamedEndpoint& endpoint) { return endpoint.name == endpoint.host; });
  if (alike) return;
  sweep_.leaf_of.assign(sweep_.hosts.size(), cluster::Sweep::kNoLeaf);
  std::unordered_map<std::string, std::int32_t> leaves;
  for (std::size_t endpoint = 0; endpoint < endpoints.size(); ++endpoint) {
    const auto [leaf, is_new] =
        leaves.try_emplace(endpoints[endpoint].host, static_cast<std::int32_t>(sweep_.leaves.size()));
    if (is_new) sweep_.leaves.push_back(endpoints[endpoint].host);
    sweep_.leaf_of[static_cast<std::size_t>(host_of_[endpoint])] = leaf->second;
  }
}

cluster::Verdict PlannedSteps::judged() const {
  cluster::VerdictSettings settings;
  settings.tolerance = options_.sweep.tolerance;
  return cluster::judge(sweep_, settings);
}

void PlannedSteps::plan_round() {
  round_ = planner_->next(sweep_, [this] { return judged(); });
  left_ = kStepsOfRound * round_.rounds_left;
  for (Pair& meeting : round_.meetings) {
    meeting = {endpoint_of_[static_cast<std::size_t>(meeting.first)],
               endpoint_of_[static_cast<std::size_t>(meeting.second)]};
  }
  if (options_.sweep.find && !round_.meetings.empty()) tell_({round_.number, round_.meetings.size(), round_.why});
}

std::optional<SweepStep> PlannedSteps::next() {
  if (steps_ % kStepsOfRound == 0) plan_round();
  if (round_.meetings.empty()) return std::nullopt;
  left_ = std::max<std::int64_t>(left_ - 1, 0);
  const std::int64_t number = steps_++;
  return SweepStep{number, round_.number, number % kStepsOfRound == 1, round_.meetings};
}

void PlannedSteps::note(const PairReading& reading) {
  cluster::Reading noted{host_of_[static_cast<std::size_t>(reading.from)],
                         host_of_[static_cast<std::size_t>(reading.to)]};
  noted.outcome = outcome_of(reading.status);
  noted.round = static_cast<std::int32_t>(reading.round);
  noted.concurrent = reading.concurrent;
  noted.small_pass = noted.outcome == cluster::Outcome::kFailed && reading.latency.has_value();
  const bool is_figure = noted.outcome == cluster::Outcome::kMeasured && reading.processor_wait <= 0;
  if (is_figure) noted.rate = static_cast<float>(reading.bandwidth);
  if (noted.outcome != cluster::Outcome::kMeasured && sweep_.reasons.size() < kMostReasons) {
    sweep_.reasons.emplace_back(sweep_.readings.size(), reading.reason);
  }
  sweep_.readings.push_back(noted);
}

std::optional<SweepVerdict> PlannedSteps::verdict() {
  if (!options_.sweep.find) return std::nullopt;
  const cluster::Verdict verdict = judged();
  SweepVerdict report = reported(verdict, sweep_, round_.why);
  if (host_of_.size() <= kMostDrawn) {
    report.layout = layout_of_endpoints(cluster::map_layout(sweep_, verdict), endpoint_of_);
  }
  return report;
}

HeatLayout layout_of_endpoints(const HeatLayout& layout, const std::vector<int>& endpoint_of) {
  HeatLayout of_endpoints;
  std::vector<std::size_t> line_of;  // by line of the whole layout: how many lines stand above it
  for (const std::size_t host : layout.order) {
    line_of.push_back(of_endpoints.order.size());
    if (endpoint_of[host] >= 0) of_endpoints.order.push_back(static_cast<std::size_t>(endpoint_of[host]));
  }
  line_of.push_back(of_endpoints.order.size());
  for (HeatBlock block : layout.blocks) {
    block.first = line_of[block.first];
    block.last = line_of[block.last];
    if (block.first < block.last) of_endpoints.blocks.push_back(block);
  }
  of_endpoints.marks.assign(of_endpoints.order.size(), kNoMark);
  for (std::size_t host = 0; host < endpoint_of.size(); ++host) {
    if (endpoint_of[host] >= 0) of_endpoints.marks[static_cast<std::size_t>(endpoint_of[host])] = layout.marks[host];
  }
  return of_endpoints;
}

SweepVerdict reported(const cluster::Verdict& verdict, const cluster::Sweep& sweep, const std::string& why_over) {
  SweepVerdict report;
  report.judged = name(verdict.judged);
  report.why_over = why_over;
  for (const cluster::Finding& finding : verdict.findings)
    report.findings.push_back(reported_finding(finding, verdict, sweep));
  for (const cluster::Alike& item : cluster::items_of(sweep, verdict, true)) {
    report.said.push_back(fmt::format("{}; {}{}", cluster::sentence(sweep, verdict, item), cluster::extent(sweep, item),
                                      item.size() > 1 ? "" : "; " + cluster::evidence(*item.front())));
  }
  for (const cluster::FollowUp& follow_up : verdict.follow_ups) {
    std::vector<std::int32_t> hosts{follow_up.host};
    if (follow_up.other >= 0) hosts.push_back(follow_up.other);
    report.open.push_back(printable(fmt::format("{}: {}", fmt::join(sweep.names_of(hosts), " and "), follow_up.why)));
  }
  report.not_judged = sweep.names_of(verdict.not_judged);
  return report;
}

}  // namespace fabricbench::sweep
