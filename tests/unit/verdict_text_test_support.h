// What the tests of reports share: a small sweep, and findings that are made up.
#pragma once

#include <cstdint>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/pairs/report/verdict_text.h"

namespace fabricbench::cluster::verdict_text_parts {

using Texts = std::vector<std::string>;

/// Of 8 hosts with two rails on two leaves; one reading in every direction, in 7 rounds.
inline Sweep example_sweep() {
  Sweep sweep;
  for (int host = 1; host <= 8; ++host) sweep.hosts.push_back(fmt::format("node{:02}", host));
  sweep.tests = {"rdma_write_bw 1 MiB"};
  for (std::int32_t from = 0; from < 8; ++from) {
    for (std::int32_t to = 0; to < 8; ++to) {
      if (from == to) continue;
      Reading reading;
      reading.from = from;
      reading.to = to;
      reading.round = (from + to) % 7;
      reading.rate = 12e9F;
      sweep.readings.push_back(reading);
    }
  }
  return sweep;
}

inline Sweep with_rails_and_leaves() {
  Sweep sweep = example_sweep();
  sweep.rails = {"mlx5_0", "mlx5_1"};
  sweep.leaves = {"east", "west"};
  sweep.leaf_of = {0, 0, 0, 0, 1, 1, 1, 1};
  return sweep;
}

inline Stratum example_stratum() {
  Stratum stratum;
  stratum.readings = 56;
  stratum.centre = 12e9;
  stratum.scale = 0.011;
  return stratum;
}

/// What a verdict says of the leaves east and west.
inline Grouping east_and_west() {
  Grouping grouping;
  grouping.groups = {{"east", {0, 1, 2, 3}}, {"west", {4, 5, 6, 7}}};
  grouping.is_given = true;
  return grouping;
}

inline Finding finding_of(Blame blame, std::vector<std::int32_t> hosts, Direction direction = Direction::kBoth) {
  Finding finding;
  finding.blame = blame;
  finding.direction = direction;
  finding.hosts = std::move(hosts);
  finding.ratio = 0.5;
  finding.rate = 6e9;
  finding.expected = 12e9;
  finding.readings = 14;
  finding.partners = finding.slow_partners = finding.working_partners = 7;
  finding.sends = finding.receives = {7, 7, 7};
  finding.other_way_fine = finding.fine_elsewhere = true;
  finding.other_rails = finding.fine_rails = blame == Blame::kNic ? 1 : 0;
  finding.fine_hosts.fill(blame != Blame::kUndecided);
  finding.false_alarm = 2e-5;
  return finding;
}

inline Finding failing(Finding finding) {
  finding.failed = finding.readings;
  finding.ratio = finding.rate = 0;
  finding.reason = "connection refused";
  return finding;
}

inline Verdict verdict_of(const std::vector<Finding>& findings) {
  Verdict verdict;
  verdict.judged = findings.empty() ? Judged::kClean : Judged::kSlow;
  verdict.findings = findings;
  verdict.strata = {example_stratum()};
  verdict.stratum_of.assign(56, 0);
  verdict.readings = 56;
  return verdict;
}

inline std::string text_of(const Sweep& sweep, const Verdict& verdict, VerdictStyle style = {}) {
  return verdict_text(sweep, verdict, {}, style);
}

inline Texts lines_of(const std::string& text) {
  Texts lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace fabricbench::cluster::verdict_text_parts
