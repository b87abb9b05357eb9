#include "cluster/acceptance/stages.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/args.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/core/outlier_detection.h"
#include "common/core/statistics.h"
#include "common/core/units.h"
#include "common/host/files.h"

namespace fabricbench::acceptance {
namespace {

constexpr double kFalseAlarm = 0.01;  // chance that any host of a healthy run exceeds the limit
constexpr std::size_t kLongestNames = 80;
constexpr int kMostValues = 4;  // told of a key that splits the hosts

constexpr std::array<std::string_view, 18> kNoNics = {"lo",    "docker",  "br-", "virbr", "veth", "cali",
                                                      "cni",   "flannel", "tun", "tap",   "kube", "nodelocaldns",
                                                      "vxlan", "dummy",   "ifb", "ovs",   "lxc",  "podman"};

/// What can be compared of a host, by key and device (empty: of the host). Values that are unknown are missing.
using Facts = std::map<std::pair<std::string_view, std::string>, std::string>;

/// The largest message of a host alone.
struct Largest {
  Bytes size = 0;
  double log_time = 0;
  double error = 0;  ///< of that
  double busbw = 0;  ///< bytes per second
};

/// A clause, and the key that it is about.
struct Difference {
  std::string_view key;
  std::string words;
};

/// Hosts unlike most others, and values of which no host is the exception.
struct Differences {
  std::map<std::string, std::vector<Difference>> of_hosts;
  std::vector<Difference> split;
};

std::string spaced(std::string_view key) {
  std::string words(key);
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::string_view words_of(std::string_view key) {
  const auto* const found =
      std::find_if(kHostKeys.begin(), kHostKeys.end(), [&](const HostKey& each) { return each.name == key; });
  return found == kHostKeys.end() ? kNotedOnly.words : found->words;
}

/// Values that are told in GiB, and may differ by one.
bool is_nearly(std::string_view value, std::string_view usual) {
  const auto one = host::parse_integer<std::int64_t>(value);
  const auto other = host::parse_integer<std::int64_t>(usual);
  return one && other && std::abs(*one - *other) <= 1;
}

using Value = std::optional<std::string>;

/// One host's value beside that of the others, as a clause; empty: they are alike.
std::string in_words(const Facts::key_type& key, const Value& value, const std::string& usual, std::size_t others) {
  const auto& [name, device] = key;
  if (!value && name != "nics") {
    return device.empty() ? fmt::format("its {} is unknown, of {} others {}", spaced(name), others, usual)
                          : fmt::format("the {} of {} is unknown, of {} others {}", name, device, others, usual);
  }
  if (name == "memory" && is_nearly(*value, usual)) return "";
  const auto told = [](const std::string& text) { return text.empty() ? std::string("none") : text; };
  return fmt::format(fmt::runtime(words_of(name)), fmt::arg("d", device), fmt::arg("v", told(value.value_or(""))),
                     fmt::arg("n", others), fmt::arg("u", told(usual)));
}

/// How many hosts have each value, in the order of their first ones.
std::vector<std::pair<Value, std::size_t>> counts_of(const std::vector<Value>& values) {
  std::vector<std::pair<Value, std::size_t>> counts;
  for (const Value& value : values) {
    const auto known =
        std::find_if(counts.begin(), counts.end(), [&](const auto& each) { return each.first == value; });
    ++(known == counts.end() ? counts.emplace_back(value, 0) : *known).second;
  }
  std::stable_sort(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return counts;
}

std::string split_in_words(const Facts::key_type& key, const std::vector<std::pair<Value, std::size_t>>& counts) {
  std::vector<std::string> told;
  for (const auto& [value, hosts] : counts) {
    if (told.size() == kMostValues) break;
    told.push_back(fmt::format("{} on {}", value.value_or("unknown"), hosts));
  }
  return fmt::format("{}{}{} differs: {}", spaced(key.first), key.second.empty() ? "" : " of ", key.second,
                     fmt::join(told, ", "));
}

std::vector<double> values_of(const std::map<std::string, Largest>& figures, double Largest::*member) {
  std::vector<double> values;
  values.reserve(figures.size());
  for (const auto& [host, figure] : figures) values.push_back(figure.*member);
  return values;
}

/// How far above the median the logarithm of a host's time may be. By sqrt(2 ln(n / a)) standard deviations, no host of
/// n exceeds the median with a probability of 1 - a if logarithms are normal; few hosts show their spread badly, so it
/// is widened for them, and is not taken to be less than the error of the figures themselves.
double limit_of(const std::map<std::string, Largest>& figures, double middle, double tolerance) {
  const auto number = static_cast<double>(figures.size());
  const double spread = deviation_about(values_of(figures, &Largest::log_time), middle) * (1 + 3 / (number - 2));
  const OutlierBounds bounds{std::log1p(tolerance), std::sqrt(2 * std::log(number / kFalseAlarm))};
  return bounds.distance(std::max(spread, median(values_of(figures, &Largest::error))));
}

std::map<std::string, Judged> slower_of_two(const std::map<std::string, Largest>& figures, double tolerance) {
  if (figures.size() < 2) return {};
  const auto* fast = &*figures.begin();
  const auto* slow = &*std::next(figures.begin());
  if (slow->second.log_time < fast->second.log_time) std::swap(fast, slow);
  const double difference = slow->second.log_time - fast->second.log_time;
  const OutlierBounds bounds{std::log1p(tolerance), 4};
  if (difference <= bounds.distance(fast->second.error + slow->second.error)) return {};
  return {{slow->first,
           {Outcome::kNotJudged, fmt::format("{:.3g} GB/s alone, {} {:.3g} GB/s: which is usual, two hosts cannot tell",
                                             slow->second.busbw / 1e9, fast->first, fast->second.busbw / 1e9)}}};
}

/// Hosts that are one machine under several names.
std::map<std::string, Judged> same_machines(const std::map<std::string, std::vector<std::string>>& hosts_of_machine) {
  std::map<std::string, Judged> same;
  for (const auto& [machine, hosts] : hosts_of_machine) {
    for (const std::string& host : hosts) {
      std::vector<std::string> others;
      std::copy_if(hosts.begin(), hosts.end(), std::back_inserter(others),
                   [&](const auto& each) { return each != host; });
      if (others.empty()) continue;
      const std::string names = fmt::format("{}", fmt::join(others, ", ")).substr(0, kLongestNames);
      same[host] = {Outcome::kFailed, fmt::format("{} ran on {}, as did {}", host, machine, names)};
    }
  }
  return same;
}

Facts facts_of(const Context& context) {
  Facts facts;
  const auto add = [&](std::string_view key, const std::string& device, const std::string& value) {
    if (!value.empty()) facts[{key, device}] = value;
  };
  const auto add_number = [&](std::string_view key, const std::string& device, const auto& number) {
    if (number) facts[{key, device}] = fmt::format("{}", *number);
  };
  const HostFacts& host = context.host_facts.front();
  add(kNotedOnly.name, "", host.kernel);
  add("processor", "", host.processor);
  add_number("cores", "", host.processing_units > 0 ? std::optional(host.processing_units) : std::nullopt);
  double memory = 0;
  for (const host::NumaNode& node : host.numa_nodes) memory += static_cast<double>(node.memory_bytes);
  facts[{"memory", ""}] = fmt::format("{:.0f}", memory / (1 << 30));
  std::map<std::string, int> models;
  std::set<std::string> drivers;
  for (const RankFacts& rank : context.ranks) {
    if (!rank.gpu) continue;
    ++models[rank.gpu->model];
    drivers.insert(rank.gpu->driver);
  }
  std::vector<std::string> gpus;
  gpus.reserve(models.size());
  for (const auto& [model, number] : models) gpus.push_back(fmt::format("{} x {}", number, model));
  facts[{"gpus", ""}] = fmt::format("{}", fmt::join(gpus, ", "));  // none is known, too
  facts[{"gpu_driver", ""}] = fmt::format("{}", fmt::join(drivers, ", "));
  for (const host::NetworkDevice& device : host.network_devices) {
    if (is_no_nic(device.name)) continue;
    add("nics", device.name, "present");
    add("state", device.name, device.state);
    add_number("speed", device.name, device.speed_mbit_per_s);
    add_number("mtu", device.name, device.mtu);
    add("driver", device.name, device.driver);
    add("firmware", device.name, device.firmware);
  }
  return facts;
}

Differences differences_of(const std::vector<std::pair<std::string, Facts>>& hosts) {
  std::set<Facts::key_type> keys;
  for (const auto& [host, facts] : hosts) {
    for (const auto& [key, value] : facts) keys.insert(key);
  }
  Differences found;
  for (const Facts::key_type& key : keys) {
    std::vector<Value> values;
    for (const auto& [host, facts] : hosts) {
      const auto known = facts.find(key);
      values.push_back(known == facts.end() ? Value() : known->second);
    }
    auto counts = counts_of(values);
    // Of as many hosts with a value as without one, the value is usual.
    if (!counts[0].first && counts.size() > 1 && counts[1].second == counts[0].second) std::swap(counts[0], counts[1]);
    const auto [usual, agree] = counts.front();
    if (!usual || agree == values.size()) continue;  // a device that few have, or no difference
    const bool too_few = values.size() < kFewestHosts;
    if (too_few || agree < enough(values.size())) {
      const bool is_told = key.first != "memory" && (key.first != "nics" || too_few);
      if (is_told) found.split.push_back({key.first, split_in_words(key, counts)});
      continue;
    }
    const Facts::key_type presence("nics", key.second);
    for (std::size_t place = 0; place < hosts.size(); ++place) {
      const auto& [host, facts] = hosts[place];
      const bool lacks_device = keys.contains(presence) && !facts.contains(presence);
      if (values[place] == usual || (lacks_device && key.first != "nics")) continue;
      const std::string words = in_words(key, values[place], *usual, agree);
      if (!words.empty()) found.of_hosts[host].push_back({key.first, words});
    }
  }
  return found;
}

/// The 5th percentile of its samples, by the faster of both placements: what else runs on a host only ever makes it
/// slower, so its fast samples show what it is able to do.
std::optional<Largest> largest_of(const std::vector<Row>& rows) {
  std::optional<Largest> found;
  for (const Row& row : rows) {
    for (const std::optional<Measurement>* const place : {&row.out_of_place, &row.in_place}) {
      if (!*place || !((*place)->summary.median > 0)) continue;
      const Summary& summary = (*place)->summary;
      const double time = summary.p5 > 0 ? summary.p5 : summary.median;
      if (found && (row.size < found->size || (row.size == found->size && std::log(time) >= found->log_time))) continue;
      // The interval has 95 %, 1.96 standard deviations each way.
      const double error =
          summary.interval ? (summary.interval->high - summary.interval->low) / 2 / summary.median / 1.96 : 0;
      found = {row.size, std::log(time), error, (*place)->busbw * summary.median / time};
    }
  }
  return found;
}

/// Hosts that are slower than the others by more than chance and tolerance explain.
std::map<std::string, Judged> slow_hosts(std::map<std::string, Largest> figures, double tolerance) {
  std::map<Bytes, int> sizes;
  for (const auto& [host, figure] : figures) ++sizes[figure.size];
  if (sizes.empty()) return {};
  const Bytes size = std::max_element(sizes.begin(), sizes.end(), [](const auto& a, const auto& b) {
                       return a.second < b.second;
                     })->first;
  std::erase_if(figures, [&](const auto& each) { return each.second.size != size; });
  if (figures.size() < kFewestHosts) return slower_of_two(figures, tolerance);
  const double middle = median(values_of(figures, &Largest::log_time));
  const double limit = limit_of(figures, middle, tolerance);
  const double usual = median(values_of(figures, &Largest::busbw));
  std::map<std::string, Judged> slow;
  for (const auto& [host, figure] : figures) {
    if (figure.log_time - middle <= limit) continue;
    slow[host] = {Outcome::kSlow, fmt::format("{:.3g} of {:.3g} GB/s alone at {}, the median of {} hosts",
                                              figure.busbw / 1e9, usual / 1e9, exact_bytes(size), figures.size())};
  }
  return slow;
}

}  // namespace

bool is_no_nic(std::string_view interface) {
  return std::any_of(kNoNics.begin(), kNoNics.end(),
                     [&](std::string_view each) { return interface.starts_with(each); });
}

HostComparison::HostComparison(const RunFolder& folder, const std::vector<std::string>& allowed, double tolerance) {
  std::vector<std::pair<std::string, Facts>> facts;
  std::map<std::string, Largest> figures;
  std::map<std::string, std::vector<std::string>> machines;
  for (const AcceptanceStep* const step : folder.of_stage(Stage::kHosts)) {
    if (step->records.empty() || (step->outcome == Outcome::kFailed && step->exit_status != 0)) continue;
    const JobRecords records = folder.records_of(*step);
    if (!records.context || records.context->host_facts.size() != 1 || records.context->ranks.empty()) continue;
    const std::string& host = step->hosts.front();
    facts.emplace_back(host, facts_of(*records.context));
    machines[records.context->host_facts.front().name].push_back(host);
    if (const auto largest = largest_of(records.rows)) figures[host] = *largest;
  }
  const auto is_noted = [&](const Difference& each) { return each.key == kNotedOnly.name || has(allowed, each.key); };
  const Differences found = differences_of(facts);
  for (const auto& [host, differences] : found.of_hosts) {
    for (const Difference& each : differences) {
      if (is_noted(each)) {
        noted_.push_back(fmt::format("{}: {}", host, each.words));
      } else {
        odd_[host] += fmt::format("{}{}", odd_[host].empty() ? "" : "; ", each.words);
      }
    }
  }
  for (const Difference& each : found.split) (is_noted(each) ? noted_ : split_).push_back(each.words);
  same_machine_ = same_machines(machines);
  slow_ = slow_hosts(std::move(figures), tolerance);
}

std::optional<Judged> HostComparison::judge(const std::string& host, bool is_judged_by_baseline) const {
  if (const auto same = same_machine_.find(host); same != same_machine_.end()) return same->second;
  if (const auto odd = odd_.find(host); odd != odd_.end()) return Judged{Outcome::kFailed, odd->second};
  const auto slow = slow_.find(host);
  if (is_judged_by_baseline || slow == slow_.end()) return std::nullopt;
  return slow->second;
}

}  // namespace fabricbench::acceptance
