#include "cluster/preflight/overview.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/hosts/host_list.h"
#include "common/core/error.h"
#include "common/core/wording.h"

namespace fabricbench::cluster {
namespace {

using host::Check;
using host::CheckFinding;
using host::CheckLevel;
using host::CheckOutcome;
using host::Compared;

/// A vote of fewer cannot tell which of them is right.
constexpr std::size_t kFewestVotes = 3;

/// `firmware of RDMA adapters (MT_0000000838)`; what is compared by the device's own name needs no other.
std::string title_of(const Compared& compared, const std::string& among, const std::string& device) {
  return among.empty() || among == device ? std::string(compared.title) : fmt::format("{} ({})", compared.title, among);
}

/// Devices in a line: the first ones, and how many more.
std::string listed(std::vector<std::string> names) {
  constexpr std::size_t kMost = 8;
  return fmt::format("{}", fmt::join(shortened(std::move(names), kMost, "more"), ", "));
}

std::int64_t size_of(const auto& list) { return static_cast<std::int64_t>(list.size()); }

}  // namespace

void Overview::add(const host::HostReport& report) {
  const std::size_t number = names_.size();
  names_.push_back(report.host);
  classes_[report.hardware_class].push_back(number);
  for (const auto& [line, hosts, wanted] : site_.expected()) {  // also of what no host has any more
    if (covers(hosts, report.host)) facts_[{wanted.check, wanted.value_of, wanted.among, report.hardware_class}];
  }
  for (const host::CheckResult& result : report.results) {
    PreflightCheck& check = checks_[result.check];
    check.check = result.check;
    switch (result.outcome) {
      case CheckOutcome::kOk: ++check.ok_hosts; break;
      case CheckOutcome::kFinding: ++check.finding_hosts; break;
      case CheckOutcome::kNotChecked: ++check.unchecked_hosts; break;
      case CheckOutcome::kAbsent: ++check.absent_hosts; break;
    }
    if (result.unseen.empty()) looked_[result.check].push_back(number);
    for (CheckFinding each : result.findings) {
      site_.accept(result.check, report.host, each);
      findings_[{result.check, std::move(each)}].push_back(number);
    }
    for (const host::UnseenSource& each : result.unseen) unseen_[{result.check, each}].push_back(number);
    for (const host::HostFact& fact : result.facts) {
      facts_[{result.check, fact.key, fact.among, report.hardware_class}].by_value[fact.value].emplace_back(
          number, fact.device);
    }
  }
}

void Overview::add(const std::string& check, std::size_t hosts, std::vector<PreflightFinding> findings,
                   std::vector<PreflightUnseen> unseen) {
  between_ = std::max(between_, hosts);
  PreflightCheck& counts = checks_[check];
  counts.check = check;
  for (const PreflightFinding& each : findings) counts.finding_hosts += std::max<std::int64_t>(each.host_count, 1);
  for (const PreflightUnseen& each : unseen) counts.unchecked_hosts += each.host_count;
  counts.finding_hosts = std::min(counts.finding_hosts, static_cast<std::int64_t>(hosts));
  counts.ok_hosts =
      std::max<std::int64_t>(static_cast<std::int64_t>(hosts) - counts.finding_hosts - counts.unchecked_hosts, 0);
  std::move(findings.begin(), findings.end(), std::back_inserter(between_hosts_));
  std::move(unseen.begin(), unseen.end(), std::back_inserter(unseen_between_hosts_));
}

const Check* Overview::find_check(const std::string& name) const {
  const auto found = std::find_if(known_.begin(), known_.end(), [&](const Check& check) { return check.name == name; });
  return found == known_.end() ? nullptr : &*found;
}

const Compared* Overview::find_compared(const std::string& check, const std::string& key) const {
  const Check* const found = find_check(check);
  if (found == nullptr) return nullptr;
  const auto is_it = [&](const Compared& compared) { return compared.key == key; };
  const auto compared = std::find_if(found->compared.begin(), found->compared.end(), is_it);
  return compared == found->compared.end() ? nullptr : &*compared;
}

/// Checks between hosts come last.
std::size_t Overview::place_of(const std::string& check) const {
  const Check* const found = find_check(check);
  return found == nullptr ? known_.size() : static_cast<std::size_t>(found - known_.data());
}

std::string Overview::folded(const Hosts& hosts) const {
  std::vector<std::string> names;
  names.reserve(hosts.size());
  for (const std::size_t number : hosts) names.push_back(names_[number]);
  return fold_hosts(names);
}

PreflightFinding Overview::finding(const std::string& check, const Hosts& hosts, CheckFinding what) const {
  return {check, folded(hosts), size_of(hosts), std::move(what)};
}

/// With `none` for the hosts that have looked and state no value.
Overview::Population Overview::completed(const Question& question, const Population& population) const {
  Population all = population;
  std::set<std::size_t> stated;
  for (const auto& [value, places] : population.by_value) {
    for (const Place& place : places) stated.insert(place.first);
  }
  const auto looked = looked_.find(question.check);
  if (looked == looked_.end()) return all;
  const Hosts& of_class = classes_.at(question.hardware_class);
  for (const std::size_t number : looked->second) {
    if (stated.count(number) == 0 && std::binary_search(of_class.begin(), of_class.end(), number)) {
      all.by_value["none"].emplace_back(number, "");
    }
  }
  return all;
}

/// Values that the site expects, on its hosts; those of the others are compared with each other.
void Overview::judge(const Question& question, const Compared& compared, Population population,
                     std::vector<PreflightFinding>& found) const {
  for (const auto& line : site_.expected()) {
    const SiteExpected& wanted = line.record;
    if (wanted.check != question.check || wanted.value_of != question.key || wanted.among != question.among) continue;
    Population covered;
    for (auto& [value, places] : population.by_value) {
      const auto others = std::stable_partition(
          places.begin(), places.end(), [&](const Place& place) { return !covers(line.hosts, names_[place.first]); });
      if (others == places.end()) continue;
      covered.by_value[value].assign(others, places.end());
      places.erase(others, places.end());
    }
    std::erase_if(population.by_value, [](const auto& each) { return each.second.empty(); });
    name_others(question, compared, covered, {wanted.value, wanted.value, site_.named(line)}, found);
  }
  compare(question, compared, population, found);
}

void Overview::compare(const Question& question, const Compared& compared, const Population& population,
                       std::vector<PreflightFinding>& found) const {
  if (population.by_value.size() < 2) return;
  std::size_t votes = 0;
  const std::string* usual = nullptr;
  std::size_t most = 0;
  for (const auto& [value, places] : population.by_value) {
    votes += places.size();
    if (places.size() <= most) continue;
    most = places.size();
    usual = &value;
  }
  if (2 * most > votes && votes >= kFewestVotes) {
    std::set<std::size_t> with_usual;
    for (const Place& place : population.by_value.at(*usual)) with_usual.insert(place.first);
    const std::string expected = fmt::format("{}, as on {}", *usual, counted(with_usual.size(), "host"));
    return name_others(question, compared, population, {*usual, expected, "the majority of hosts of the same hardware"},
                       found);
  }
  std::vector<std::string> values;
  std::set<std::size_t> all;
  for (const auto& [value, places] : population.by_value) {
    std::set<std::size_t> hosts;
    for (const Place& place : places) hosts.insert(place.first);
    values.push_back(fmt::format("{} on {}", value, folded(Hosts(hosts.begin(), hosts.end()))));
    all.merge(hosts);
  }
  found.push_back(
      finding(question.check, Hosts(all.begin(), all.end()),
              {.level = std::min(compared.level, CheckLevel::kWarning),
               .measured = fmt::format("{}: {}", title_of(compared, question.among, ""), fmt::join(values, "; ")),
               .expected = "one value on all hosts; too few agree to tell which is right",
               .expected_by = "hosts of the same hardware",
               .consequence = std::string(compared.consequence),
               .next = std::string(compared.next)}));
}

/// A line for each other value and the devices that have it: hosts with the same devices share one.
void Overview::name_others(const Question& question, const Compared& compared, const Population& population,
                           const Norm& norm, std::vector<PreflightFinding>& found) const {
  for (const auto& [value, places] : population.by_value) {
    if (value == norm.value) continue;
    std::map<std::size_t, std::vector<std::string>> devices;
    for (const auto& [number, device] : places) devices[number].push_back(device);
    std::map<std::string, Hosts> by_devices;
    for (const auto& [number, names] : devices) by_devices[listed(names)].push_back(number);
    for (const auto& [names, hosts] : by_devices) {
      found.push_back(finding(question.check, hosts,
                              {.level = compared.level,
                               .device = names,
                               .measured = fmt::format("{}: {}", title_of(compared, question.among, names), value),
                               .expected = norm.expected,
                               .expected_by = norm.expected_by,
                               .consequence = std::string(compared.consequence),
                               .next = std::string(compared.next)}));
    }
  }
}

std::vector<PreflightCheck> Overview::checks() const {
  std::vector<PreflightCheck> checks;
  for (const auto& [name, check] : checks_) checks.push_back(check);
  std::stable_sort(checks.begin(), checks.end(), [this](const PreflightCheck& a, const PreflightCheck& b) {
    return place_of(a.check) < place_of(b.check);
  });
  return checks;
}

/// What hosts have found themselves, device by device.
std::vector<PreflightFinding> Overview::own_findings() const {
  std::vector<PreflightFinding> found;
  for (const auto& [each, hosts] : findings_) {
    CheckFinding what = each.second;
    if (what.only_between_hosts && names_.size() == 1) what.level = CheckLevel::kNote;
    if (what.maybe_by_design && hosts.size() == names_.size() && hosts.size() >= kFewestVotes) {
      what.level = CheckLevel::kNote;
      what.expected += "; it is so on all hosts, perhaps by design";
    }
    found.push_back(finding(each.first, hosts, std::move(what)));
  }
  return found;
}

/// One line for the devices of the same hosts that have the same fault.
std::vector<PreflightFinding> Overview::with_devices_folded(const std::vector<PreflightFinding>& all) {
  std::map<std::tuple<std::string, std::string, CheckFinding>, std::vector<PreflightFinding>> alike;
  for (const PreflightFinding& each : all) {
    CheckFinding what = each.what;
    what.device.clear();
    alike[{each.check, each.hosts, std::move(what)}].push_back(each);
  }
  std::vector<PreflightFinding> found;
  for (const auto& [key, findings] : alike) {
    std::vector<std::string> devices;
    for (const PreflightFinding& each : findings) devices.push_back(each.what.device);
    found.push_back(findings.front());
    found.back().what.device = listed(std::move(devices));
  }
  return found;
}

std::vector<PreflightFinding> Overview::findings_between_hosts() const {
  std::vector<PreflightFinding> found = between_hosts_;
  for (const auto& [question, population] : facts_) {
    const Compared* const compared = find_compared(question.check, question.key);
    if (compared == nullptr) continue;
    judge(question, *compared, compared->is_count ? completed(question, population) : population, found);
  }
  for (PreflightFinding& each : found) site_.accept(each.check, each.hosts, each.what);
  return found;
}

std::vector<PreflightFinding> Overview::findings() const {
  std::vector<PreflightFinding> found = with_devices_folded(own_findings());
  std::vector<PreflightFinding> between = findings_between_hosts();
  std::move(between.begin(), between.end(), std::back_inserter(found));
  std::stable_sort(found.begin(), found.end(), [this](const PreflightFinding& a, const PreflightFinding& b) {
    return std::pair(b.what.level, place_of(a.check)) < std::pair(a.what.level, place_of(b.check));
  });
  return found;
}

std::string Overview::site_lines(const std::string& who) const {
  return cluster::site_lines(own_findings(), who) + cluster::site_lines(findings_between_hosts(), who);
}

std::vector<PreflightUnseen> Overview::unseen() const {
  std::map<std::tuple<std::string, Hosts, std::string>, std::vector<std::string>> sources;
  for (const auto& [each, hosts] : unseen_)
    sources[{each.first, hosts, each.second.reason}].push_back(each.second.source);
  std::vector<PreflightUnseen> all = unseen_between_hosts_;
  for (const auto& [each, names] : sources) {
    const auto& [name, hosts, reason] = each;
    const Check* const check = find_check(name);
    all.push_back({name,
                   folded(hosts),
                   size_of(hosts),
                   check != nullptr && check->is_required,
                   size_of(names),
                   {names.front(), reason}});
  }
  std::stable_sort(all.begin(), all.end(), [this](const PreflightUnseen& a, const PreflightUnseen& b) {
    return std::pair(!a.is_required, place_of(a.check)) < std::pair(!b.is_required, place_of(b.check));
  });
  return all;
}

Ending Overview::tell(const Outputs& outputs) const {
  const std::vector<PreflightFinding> found = findings();
  const std::vector<PreflightUnseen> not_seen = unseen();
  for (const PreflightFinding& each : found) outputs.record(each);
  for (const PreflightUnseen& each : not_seen) outputs.record(each);
  for (const PreflightCheck& each : checks()) outputs.record(each);
  return conclude_preflight(found, not_seen, hosts());
}

Ending conclude_preflight(const std::vector<PreflightFinding>& findings, const std::vector<PreflightUnseen>& unseen,
                          std::size_t hosts) {
  const auto failures = std::count_if(findings.begin(), findings.end(), [](const PreflightFinding& finding) {
    return finding.what.level == CheckLevel::kFailure;
  });
  const auto required =
      std::count_if(unseen.begin(), unseen.end(), [](const PreflightUnseen& each) { return each.is_required; });
  Ending ending;
  if (failures > 0) {
    ending.exit_status = static_cast<int>(ExitStatus::kTooSlow);
    const auto& first = findings.front();
    ending.reason =
        fmt::format("{}, the first on {}: {}", counted(failures, "failure"), first.hosts, first.what.measured);
  } else if (required > 0) {
    ending.exit_status = static_cast<int>(ExitStatus::kNotJudged);
    ending.reason =
        fmt::format("{} could not be checked, the first is {} on {}: {}", counted(required, "required source"),
                    unseen.front().check, unseen.front().hosts, unseen.front().what.reason);
  } else {
    ending.reason = fmt::format("no failure was found on {}", counted(hosts, "host"));
  }
  return ending;
}

}  // namespace fabricbench::cluster
