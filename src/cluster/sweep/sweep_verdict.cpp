// The verdict on a sweep in the form of this program's outputs; find_slow_links prints more.

#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/pairs/report/verdict_text.h"
#include "cluster/sweep/steps.h"
#include "common/core/plain_text.h"

namespace fabricbench::sweep {
namespace {

std::vector<std::string> names_of(const std::vector<std::int32_t>& hosts, const cluster::Sweep& sweep) {
  std::vector<std::string> names;
  names.reserve(hosts.size());
  for (const std::int32_t host : hosts) names.push_back(sweep.hosts[static_cast<std::size_t>(host)]);
  return names;
}

SweepFinding reported_finding(const cluster::Finding& finding, const cluster::Verdict& verdict,
                              const cluster::Sweep& sweep) {
  SweepFinding reported;
  reported.blame = name(finding.blame);
  reported.direction = name(finding.direction);
  reported.endpoints = names_of(finding.hosts, sweep);
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
    report.open.push_back(printable(fmt::format("{}: {}", fmt::join(names_of(hosts, sweep), " and "), follow_up.why)));
  }
  report.not_judged = names_of(verdict.not_judged, sweep);
  return report;
}

}  // namespace fabricbench::sweep
