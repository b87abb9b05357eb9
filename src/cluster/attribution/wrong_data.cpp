// Findings on wrong data.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "cluster/attribution/failures.h"

namespace fabricbench::cluster {
namespace {

using HostPair = std::pair<std::int32_t, std::int32_t>;

/// The pairs with wrong data, and the place of the first such reading of each.
std::map<HostPair, std::size_t> wrong_pairs(const Sweep& sweep) {
  std::map<HostPair, std::size_t> pairs;
  for (std::size_t place = 0; place < sweep.readings.size(); ++place) {
    const Reading& reading = sweep.readings[place];
    if (reading.outcome == Outcome::kWrong) pairs.try_emplace(std::minmax(reading.from, reading.to), place);
  }
  return pairs;
}

/// The host with the most partners among pairs, and their number.
std::pair<std::int32_t, std::size_t> host_of_most(const std::map<HostPair, std::size_t>& pairs) {
  std::map<std::int32_t, std::size_t> partners;
  for (const auto& [pair, place] : pairs) {
    ++partners[pair.first];
    ++partners[pair.second];
  }
  std::pair<std::int32_t, std::size_t> most{-1, 0};
  for (const auto& [host, number] : partners) {
    if (number > most.second) most = {host, number};
  }
  return most;
}

/// A finding on a host, or on a pair: its readings with a figure or with wrong data.
Finding wrong_data_finding(const Sweep& sweep, std::vector<std::int32_t> hosts, std::size_t first) {
  Finding finding;
  finding.blame = Blame::kWrongData;
  finding.false_alarm = 0;  // data are compared, not estimated
  finding.reason = reason_of(sweep, first);
  std::set<std::int32_t> partners;
  std::set<std::int32_t> wrong_partners;
  for (const Reading& reading : sweep.readings) {
    const auto has = [&](std::int32_t host) { return std::find(hosts.begin(), hosts.end(), host) != hosts.end(); };
    const auto count = static_cast<std::size_t>(has(reading.from)) + static_cast<std::size_t>(has(reading.to));
    const bool wrong = reading.outcome == Outcome::kWrong;
    if (count < hosts.size() || (!wrong && reading.outcome != Outcome::kMeasured)) continue;
    const std::int32_t partner = has(reading.from) ? reading.to : reading.from;
    ++finding.readings;
    partners.insert(partner);
    if (!wrong) continue;
    ++finding.slow;
    wrong_partners.insert(partner);
    finding.both_ways |= reading.both_ways;
  }
  finding.partners = static_cast<std::int64_t>(partners.size());
  finding.slow_partners = static_cast<std::int64_t>(wrong_partners.size());
  finding.hosts = std::move(hosts);
  return finding;
}

}  // namespace

void report_wrong_data(const Sweep& sweep, Verdict& verdict) {
  auto pairs = wrong_pairs(sweep);
  for (auto [host, partners] = host_of_most(pairs); partners > 1; std::tie(host, partners) = host_of_most(pairs)) {
    const auto of_host = [&](const auto& entry) { return entry.first.first == host || entry.first.second == host; };
    const auto first = std::find_if(pairs.begin(), pairs.end(), of_host);
    verdict.findings.push_back(wrong_data_finding(sweep, {host}, first->second));
    std::erase_if(pairs, of_host);
  }
  for (const auto& [pair, place] : pairs) {
    verdict.findings.push_back(wrong_data_finding(sweep, {pair.first, pair.second}, place));
  }
}

}  // namespace fabricbench::cluster
