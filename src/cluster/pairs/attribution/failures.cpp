#include "cluster/pairs/attribution/failures.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "cluster/pairs/attribution/units.h"
#include "cluster/pairs/sets.h"
#include "cluster/pairs/thresholds.h"
#include "common/core/statistics.h"

namespace fabricbench::cluster {
namespace {

using Hosts = std::vector<std::int32_t>;
using Pair = std::pair<std::int32_t, std::int32_t>;
/// Sets of units or hosts, by some number of them.
using Sets = std::map<std::int32_t, std::set<std::int32_t>>;

/// The sets that pairs connect.
Sets connected_by(const std::vector<Pair>& pairs, std::size_t elements) {
  DisjointSets connected(elements);
  for (const auto& [first, second] : pairs) connected.join(first, second);
  Sets sets;
  for (const auto& [first, second] : pairs) sets[connected.representative(first)].insert({first, second});
  return sets;
}

/// The sets of hosts that work with each other, the largest first.
std::vector<Hosts> parts_of(const Sweep& sweep) {
  std::vector<Pair> pairs;
  for (const Reading& reading : sweep.readings) {
    const bool works = reading.outcome == Outcome::kMeasured && reading.from != reading.to;
    if (works) pairs.emplace_back(reading.from, reading.to);
  }
  std::vector<Hosts> parts;
  for (const auto& [number, hosts] : connected_by(pairs, sweep.hosts.size())) {
    parts.emplace_back(hosts.begin(), hosts.end());
  }
  std::ranges::stable_sort(parts, [](const Hosts& a, const Hosts& b) { return a.size() > b.size(); });
  return parts;
}

Attempts failures_between(const AttemptTable& table, const Hosts& part, const Hosts& other) {
  const auto are_of = [&](std::int32_t unit, std::int32_t partner) {
    return std::ranges::binary_search(part, unit / table.rails) &&
           std::ranges::binary_search(other, partner / table.rails);
  };
  Attempts between;
  for (std::size_t i = 0; i < table.failed.size(); ++i) {
    const auto& [place, from, to, is_explained] = table.failed[i];
    if (are_of(from, to) || are_of(to, from)) between.failed.push_back(static_cast<std::int32_t>(i));
  }
  return between;
}

/// Finds parts that are cut off from the largest one. Returns the largest one and these.
std::vector<Hosts> find_parts(AttemptTable& table, std::vector<FailureRun>& causes) {
  std::vector<Hosts> found;
  for (const Hosts& part : parts_of(*table.sweep)) {
    if (!found.empty()) {
      std::set<std::int32_t> units;
      for (std::int32_t unit = 0; unit < static_cast<std::int32_t>(table.units.size()); ++unit) {
        if (std::ranges::binary_search(part, unit / table.rails)) units.insert(unit);
      }
      FailureRun run = table.run_of(failures_between(table, part, found.front()), units);
      if (std::min({run.units.size(), run.partners.size(), run.rounds.size()}) < 2) continue;  // bad luck makes one
      run.finding.blame = Blame::kCutOff;
      run.finding.hosts = part;
      causes.push_back(std::move(run));
    }
    for (const Hosts& other : found) table.explain(failures_between(table, part, other));
    found.push_back(part);
  }
  return found;
}

/// Whether so many partners work that none of them is to blame.
bool is_not_of_partners(const FailureRun& run) { return run.proven.size() >= kMoreThanOne; }

/// The other units of the same host for which this holds.
template <typename Holds>
std::int64_t count_other_rails(const AttemptTable& table, std::int32_t unit, const Holds& holds) {
  std::int64_t number = 0;
  const std::int32_t first = unit - unit % table.rails;
  for (std::int32_t other = first; other < first + table.rails; ++other) {
    number += other != unit && holds(table.of(other)) ? 1 : 0;
  }
  return number;
}

/// Whether nothing works over a rail, though most of its hosts have worked over other rails since. Sets how many.
bool is_dead_rail(const AttemptTable& table, const Attempts& attempts, FailureRun& run) {
  const auto elsewhere = std::ranges::count_if(run.units, [&](std::int32_t unit) {
    return count_other_rails(table, unit,
                             [&](const Attempts& other) { return other.last_success > attempts.last_success; }) > 0;
  });
  run.finding.working_partners = elsewhere;
  return elsewhere >= kSeveral && 2 * elsewhere > std::ssize(run.units) && run.rounds.size() > 1;
}

/// Whether units of a host fail with partners that work; with just one, if they never worked. In one direction: while
/// they work in the other one.
bool is_dead_host(const AttemptTable& table, const std::set<std::int32_t>& units, Direction direction,
                  const FailureRun& run) {
  const auto is_tried = [&](std::int32_t unit) { return table.of(unit, direction).tried() > 0; };
  if (std::ranges::count_if(units, is_tried) > std::ssize(run.units)) return false;
  if (direction == Direction::kBoth) return is_not_of_partners(run) || (!run.finding.has_worked && !run.proven.empty());
  return is_not_of_partners(run) &&
         std::ranges::any_of(units, [&](std::int32_t unit) { return table.of(unit).last_success > run.first; });
}

/// The units of each rail (Blame::kRail) or host (kDead), or each unit by itself (kNic).
Sets units_by(Blame blame, const AttemptTable& table) {
  Sets suspects;
  for (std::int32_t unit = 0; unit < std::ssize(table.units); ++unit) {
    const std::int32_t host = unit / table.rails;
    suspects[blame == Blame::kRail ? unit % table.rails : blame == Blame::kDead ? host : unit].insert(unit);
  }
  return suspects;
}

/// Sets of units that fail with each other and work with nobody.
Sets silent_units(const AttemptTable& table) {
  std::vector<Pair> pairs;
  for (const auto& [place, from, to, is_explained] : table.failed) {
    const bool are_silent = table.of(from).worked + table.of(to).worked == 0;
    if (are_silent && !is_explained) pairs.emplace_back(from, to);
  }
  return connected_by(pairs, table.units.size());
}

/// Finds which of these explain failures in a direction, or in both. If `blame` is undecided, all of them do.
void find_dead(AttemptTable& table, const Sets& suspects, Blame blame, Direction direction, double false_alarm,
               std::vector<FailureRun>& causes) {
  std::set<std::int32_t> dead;
  for (const auto& [number, units] : suspects) {
    const Attempts attempts = table.unexplained(units, direction);
    FailureRun run = table.run_of(attempts, units, direction);
    // Attempts may have failed so often before that a run of failures is chance.
    if (table.chance_of(run, run.earlier_share) >= false_alarm) continue;
    if (blame == Blame::kRail && !is_dead_rail(table, attempts, run)) continue;
    if ((blame == Blame::kDead || blame == Blame::kNic) && !is_dead_host(table, units, direction, run)) continue;
    Finding& finding = run.finding;
    finding.blame = blame;
    finding.direction = direction;
    finding.other_way_fine = direction != Direction::kBoth;
    const std::int32_t rail = *units.begin() % table.rails;
    const bool share_rail = std::ranges::all_of(units, [&](std::int32_t unit) { return unit % table.rails == rail; });
    if (table.rails > 1 && share_rail) finding.rail = rail;
    for (const std::int32_t unit : units) finding.hosts.push_back(unit / table.rails);
    finding.hosts = blame == Blame::kRail ? Hosts() : sorted_unique(std::move(finding.hosts));
    if (blame == Blame::kNic) {
      finding.other_rails = count_other_rails(table, number, [](const Attempts& other) { return other.tried() > 0; });
      finding.fine_rails = count_other_rails(table, number, [](const Attempts& other) { return other.worked > 0; });
    }
    causes.push_back(std::move(run));
    dead.insert(units.begin(), units.end());
  }
  table.explain(table.unexplained(dead, direction));
}

/// Adds a finding. On a host it is undecided, with a follow-up, if it may be chance or the fault of a partner. What
/// small messages get through is not dead.
void report(const AttemptTable& table, const FailureRun& run, double usual, double false_alarm, FailureReport& report) {
  Finding finding = run.finding;
  finding.false_alarm = table.chance_of(run, std::max(usual, run.earlier_share));
  if (finding.blame != Blame::kRail && finding.blame != Blame::kCutOff) {
    const bool is_open = finding.false_alarm >= false_alarm || !is_not_of_partners(run);
    if (is_open || finding.small_pass) finding.blame = Blame::kUndecided;
    for (std::size_t i = 0; is_open && i < finding.hosts.size(); ++i) {
      const auto rail = static_cast<std::int16_t>(std::max(finding.rail, 0));
      report.follow_ups.push_back(
          {finding.hosts[i], -1, rail, 2,
           fmt::format("failed with {} partner{}", finding.partners, finding.partners == 1 ? "" : "s")});
    }
  }
  report.findings.push_back(std::move(finding));
}

/// Adds follow-ups: whether dead hosts work with each other or with a part of the cluster, as hosts of a leaf do that
/// is cut off, and whether two parts that are cut off are one. `parts`: the largest one, and those cut off.
void follow_up_dead_hosts(const Sweep& sweep, const Hosts& dead, const std::vector<Hosts>& parts,
                          FailureReport& report) {
  std::vector<Hosts> groups = {dead};
  if (parts.size() > 1) groups.insert(groups.end(), parts.begin(), parts.end());
  std::set<Pair> met;
  const auto is_dead = [&](std::int32_t host) { return std::ranges::binary_search(dead, host); };
  for (const Reading& reading : sweep.readings) {
    if (parts.size() > 1 || is_dead(reading.from) || is_dead(reading.to))
      met.insert(std::minmax(reading.from, reading.to));
  }
  const auto ask = [&](std::int32_t host, std::int32_t other) {
    const Pair pair = std::minmax(host, other);
    if (host == other || !met.insert(pair).second) return;
    FollowUp follow_up{pair.first, pair.second, 0, 1, "both fail with the others: do they work with each other?", true};
    follow_up.of_dead = true;
    report.follow_ups.push_back(std::move(follow_up));
  };
  for (const Hosts& hosts : groups) {
    for (std::size_t i = 0; i < dead.size(); ++i) {
      // Each dead host has different partners, so that all of them can be measured in one round.
      for (const std::size_t step : {std::size_t{1}, std::size_t{2}}) ask(dead[i], hosts[(i + step) % hosts.size()]);
    }
  }
  for (std::size_t part = 1; part < parts.size(); ++part) {
    for (std::size_t other = part + 1; other < parts.size(); ++other) ask(parts[part].front(), parts[other].front());
  }
}

/// A finding on a host, or on a pair: its readings with a figure or with wrong data.
Finding wrong_data_finding(const Sweep& sweep, const Hosts& hosts) {
  Finding finding;
  finding.blame = Blame::kWrongData;
  finding.hosts = hosts;
  finding.false_alarm = 0;  // data are compared, not estimated
  std::set<std::int32_t> partners;
  std::set<std::int32_t> wrong_partners;
  for (std::size_t place = 0; place < sweep.readings.size(); ++place) {
    const Reading& reading = sweep.readings[place];
    const bool is_wrong = reading.outcome == Outcome::kWrong;
    const bool is_of_all =
        std::ranges::all_of(hosts, [&](std::int32_t host) { return reading.from == host || reading.to == host; });
    if (!is_of_all || (!is_wrong && reading.outcome != Outcome::kMeasured)) continue;
    const std::int32_t partner = reading.from == hosts.front() ? reading.to : reading.from;
    ++finding.readings;
    partners.insert(partner);
    if (!is_wrong) continue;
    if (finding.slow++ == 0) finding.reason = reason_of(sweep, place);
    wrong_partners.insert(partner);
    finding.both_ways |= reading.both_ways;
  }
  finding.partners = std::ssize(partners);
  finding.slow_partners = std::ssize(wrong_partners);
  return finding;
}

}  // namespace

void AttemptsByDirection::add(const Reading& reading, std::size_t place, Direction direction, std::int32_t failed) {
  const bool has_worked = reading.outcome == Outcome::kMeasured;
  for (const Direction each : {Direction::kBoth, Direction::kSends, Direction::kReceives}) {
    const bool is_about = each == Direction::kBoth || (reading.both_ways ? has_worked : each == direction);
    if (!is_about) continue;
    Attempts& attempts = directions[at(each)];
    if (!has_worked) {
      attempts.failed.push_back(failed);
      continue;
    }
    ++attempts.worked;
    attempts.rounds_worked += std::exchange(attempts.last_round, reading.round) != reading.round ? 1 : 0;
    attempts.last_success = static_cast<std::int64_t>(place);
  }
  auto& [first, second] = worked_with;
  const std::int32_t other = direction == Direction::kSends ? reading.to : reading.from;
  if (has_worked && first != other) (first < 0 ? first : second) = other;
}

AttemptTable::AttemptTable(const Sweep& readings, std::int32_t number_of_rails)
    : sweep(&readings), rails(number_of_rails), units(readings.hosts.size() * at(rails)) {
  for (std::size_t place = 0; place < readings.readings.size(); ++place) {
    const Reading& reading = readings.readings[place];
    if (!has_worked_or_failed(reading) || reading.from == reading.to) continue;
    const auto number = static_cast<std::int32_t>(failed.size());
    if (reading.outcome == Outcome::kFailed) failed.push_back({place, sender_of(reading), receiver_of(reading)});
    units[at(sender_of(reading))].add(reading, place, Direction::kSends, number);
    units[at(receiver_of(reading))].add(reading, place, Direction::kReceives, number);
  }
}

Attempts AttemptTable::unexplained(const std::set<std::int32_t>& of_units, Direction direction) const {
  Attempts all;
  for (const std::int32_t unit : of_units) {
    const Attempts& own = of(unit, direction);
    all.worked += own.worked;
    all.rounds_worked = std::max(all.rounds_worked, own.rounds_worked);
    all.last_round = std::max(all.last_round, own.last_round);
    all.last_success = std::max(all.last_success, own.last_success);
    std::ranges::copy_if(own.failed, std::back_inserter(all.failed),
                         [&](std::int32_t place) { return !failed[at(place)].is_explained; });
  }
  all.failed = sorted_unique(std::move(all.failed));
  return all;
}

FailureRun AttemptTable::run_of(const Attempts& attempts, const std::set<std::int32_t>& own,
                                Direction direction) const {
  constexpr std::array<Direction, 3> kOpposite = {Direction::kBoth, Direction::kReceives, Direction::kSends};
  FailureRun run;
  Finding& finding = run.finding;
  finding.has_worked = attempts.worked > 0;
  finding.small_pass = true;
  run.looks = static_cast<double>(1 + attempts.rounds_worked);
  for (const std::int32_t number : attempts.failed) {
    const auto& [place, from, to, is_explained] = failed[at(number)];
    if (static_cast<std::int64_t>(place) < attempts.last_success) continue;
    const Reading& reading = sweep->readings[place];
    if (finding.failed++ == 0) run.first = static_cast<std::int64_t>(place);
    run.rounds.insert(reading.round);
    finding.small_pass = finding.small_pass && reading.small_pass;
    finding.confirmed = finding.confirmed || (reading.concurrent == 1 && reading.round > *run.rounds.begin());
    for (const auto& [unit, other] : {std::pair{from, to}, std::pair{to, from}}) {
      const std::int32_t host = unit / rails;
      if (own.contains(unit)) run.units.insert(unit);
      if (own.contains(unit)) continue;
      run.partners.insert(host);
      if (works_besides(unit, other / rails)) run.working.insert(host);
      const std::int32_t last_round = of(unit, kOpposite[at(direction)]).last_round;
      if (last_round > (finding.has_worked ? reading.round : -1)) run.proven.insert(host);
    }
  }
  finding.readings = finding.failed;
  finding.partners = std::ssize(run.partners.empty() ? run.units : run.partners);
  finding.working_partners = std::ssize(run.working);
  if (run.first < 0) return run;
  finding.reason = reason_of(*sweep, at(run.first));
  // Of several hosts another one may have failed again.
  finding.confirmed = finding.confirmed && *run.units.begin() / rails == *run.units.rbegin() / rails;
  const auto earlier = static_cast<double>(attempts.failures() - finding.failed);
  run.earlier_share = earlier / std::max(earlier + static_cast<double>(attempts.worked), 1.0);
  return run;
}

double AttemptTable::chance_of(const FailureRun& run, double share, std::int64_t worked) const {
  // Both directions of an attempt fail together, and perhaps all rails. Only rounds and partners are independent.
  const std::int64_t failures = std::max<std::int64_t>(std::ssize(run.rounds), run.finding.partners);
  return family_wise(binomial_tail(failures + worked, share, failures),
                     static_cast<double>(sweep->hosts.size()) * run.looks);
}

void AttemptTable::explain(const Attempts& attempts) {
  for (const std::int32_t number : attempts.failed) failed[at(number)].is_explained = true;
}

Failures find_failures(const Sweep& sweep, std::int32_t rails, double false_alarm) {
  Failures failures;
  failures.is_dead.assign(sweep.hosts.size(), 0);
  AttemptTable table(sweep, rails);
  if (table.failed.empty()) return failures;
  std::vector<FailureRun> causes;
  const std::vector<Hosts> parts = find_parts(table, causes);
  const auto find = [&](const Sets& suspects, Blame blame, Direction direction) {
    find_dead(table, suspects, blame, direction, false_alarm, causes);
  };
  find(units_by(Blame::kRail, table), Blame::kRail, Direction::kBoth);
  for (const Direction direction : {Direction::kBoth, Direction::kSends, Direction::kReceives}) {
    find(units_by(Blame::kDead, table), Blame::kDead, direction);
    if (rails > 1) find(units_by(Blame::kNic, table), Blame::kNic, direction);
  }
  find(silent_units(table), Blame::kUndecided, Direction::kBoth);
  const double usual = explain_by_paths(table, false_alarm, failures.paths);
  Hosts dead;
  for (const FailureRun& cause : causes) {
    const Finding& finding = cause.finding;
    report(table, cause, usual, false_alarm, failures.lasting);
    if (!is_not_of_partners(cause)) continue;
    if (finding.blame == Blame::kDead && finding.direction == Direction::kBoth) dead.push_back(finding.hosts.front());
    if (finding.blame == Blame::kDead || finding.direction != Direction::kBoth)
      failures.is_dead[at(finding.hosts.front())] = 1;
  }
  if (!dead.empty() || parts.size() > 1) follow_up_dead_hosts(sweep, dead, parts, failures.lasting);
  for (const FailedAttempt& attempt : table.failed) {
    if (!attempt.is_explained) failures.unexplained.push_back(static_cast<std::int32_t>(attempt.place));
  }
  return failures;
}

void add_report(const FailureReport& report, const std::vector<double>& unsteady, Verdict& verdict) {
  const auto is_unsteady = [&](std::int32_t host) { return host >= 0 && unsteady[at(host)] != 0; };
  for (const Finding& finding : report.findings) {
    if (std::ranges::none_of(finding.hosts, is_unsteady)) verdict.findings.push_back(finding);
  }
  for (const FollowUp& follow_up : report.follow_ups) {
    if (!is_unsteady(follow_up.host) && !is_unsteady(follow_up.other)) verdict.follow_ups.push_back(follow_up);
  }
}

void report_wrong_data(const Sweep& sweep, Verdict& verdict) {
  std::set<Pair> pairs;
  for (const Reading& reading : sweep.readings) {
    if (reading.outcome == Outcome::kWrong) pairs.insert(std::minmax(reading.from, reading.to));
  }
  while (!pairs.empty()) {
    std::map<std::int32_t, std::int64_t> partners;
    for (const auto& [first, second] : pairs) {
      ++partners[first];
      ++partners[second];
    }
    const auto most = std::ranges::max_element(partners, {}, [](const auto& each) { return each.second; });
    const Hosts hosts = most->second > 1 ? Hosts{most->first} : Hosts{pairs.begin()->first, pairs.begin()->second};
    verdict.findings.push_back(wrong_data_finding(sweep, hosts));
    std::erase_if(pairs, [&](const Pair& pair) { return pair.first == hosts.front() || pair.second == hosts.front(); });
  }
}

std::string reason_of(const Sweep& sweep, std::size_t reading) {
  const auto found = std::lower_bound(sweep.reasons.begin(), sweep.reasons.end(), reading,
                                      [](const auto& entry, std::size_t place) { return entry.first < place; });
  return found != sweep.reasons.end() && found->first == reading ? found->second : std::string();
}

}  // namespace fabricbench::cluster
