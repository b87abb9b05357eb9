#include "cluster/fabric/locality.h"

#include <algorithm>
#include <cctype>
#include <set>

#include <fmt/format.h>

#include "cluster/fabric/findings.h"
#include "cluster/fabric/text.h"
#include "cluster/hosts/host_list.h"
#include "common/core/error.h"
#include "common/core/plain_text.h"

namespace fabricbench::fabric {
namespace {

bool are_equal(std::string_view word, std::string_view key) {  // Slurm's keys know no case
  return std::equal(word.begin(), word.end(), key.begin(), key.end(),
                    [](unsigned char one, unsigned char other) { return std::tolower(one) == std::tolower(other); });
}

/// The value of `key=` in a line, which ends at a blank outside of brackets; nothing there: empty.
std::string_view value_of(std::string_view line, std::string_view key) {
  while (!line.empty()) {
    const std::size_t begin = line.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) return {};
    line.remove_prefix(begin);
    const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
    const std::size_t equals = word.find('=');
    if (equals != std::string_view::npos && are_equal(word.substr(0, equals), key)) return word.substr(equals + 1);
    line.remove_prefix(word.size());
  }
  return {};
}

void take_switch(std::string_view line, const std::string& where, Locality& locality) {
  const std::string_view name = value_of(line, "SwitchName");
  if (trimmed(line).empty()) return;
  if (name.empty()) {
    throw Error(ExitStatus::kFailure,
                fmt::format("{}: SwitchName= expected: '{}'", where, printable(cut_short(line, 100))));
  }
  const std::string_view nodes = value_of(line, "Nodes");
  if (nodes.empty()) return;
  cluster::HostList hosts;
  try {
    hosts.add_list(nodes, "Nodes");
  } catch (const UsageError& error) {
    throw Error(ExitStatus::kFailure, fmt::format("{}: {}", where, error.what()));
  }
  for (const cluster::Host& host : hosts.hosts()) locality[host.name] = name;
}

/// A hub for hosts that share leaves: the first leaf by natural order among those a host has.
std::string first_leaf(const Fabric& fabric, const std::map<std::size_t, std::size_t>& leaves) {
  std::size_t most = 0;
  for (const auto& [leaf, count] : leaves) most = std::max(most, count);
  std::string first;
  for (const auto& [leaf, count] : leaves) {
    const std::string shown = shown_name(fabric.nodes[leaf]);
    if (count == most && (first.empty() || cluster::comes_before(shown, first))) first = shown;
  }
  return first;
}

std::string one_word(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char letter) { return letter <= ' ' || letter == '#'; }, '_');
  return text;
}

}  // namespace

Locality read_slurm_topology(std::string_view text, std::string_view file) {
  Locality locality;
  std::string line;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view part = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    ++number;
    part = part.substr(0, part.find('#'));
    const bool continues = part.ends_with('\\');
    line += part.substr(0, part.size() - (continues ? 1 : 0));
    if (continues && !text.empty()) continue;
    take_switch(line, fmt::format("{}:{}", file, number), locality);
    line.clear();
  }
  if (locality.empty()) {
    throw Error(ExitStatus::kFailure, fmt::format("{}: no switch has Nodes=; is it Slurm's topology.conf?", file));
  }
  return locality;
}

Locality locality_of(const Fabric& fabric, const Shape& shape) {
  std::map<std::string, std::map<std::size_t, std::size_t>> leaves;
  for (const HostCable& cable : shape.host_cables) {
    if (shape.tiers[cable.leaf.node] == 1) ++leaves[cable.host][cable.leaf.node];
  }
  Locality locality;
  for (const auto& [host, its] : leaves) locality[host] = first_leaf(fabric, its);
  return locality;
}

std::string text_of(const Locality& locality) {
  std::vector<std::string> hosts;
  for (const auto& [host, leaf] : locality) hosts.push_back(host);
  std::sort(hosts.begin(), hosts.end(),
            [](const std::string& one, const std::string& other) { return cluster::comes_before(one, other); });
  std::string text;
  for (const std::string& host : hosts) text += fmt::format("{} {}\n", one_word(host), one_word(locality.at(host)));
  return text;
}

Spread spread_of(const Locality& locality, const std::vector<std::string>& hosts) {
  Spread spread;
  for (const std::string& host : hosts) {
    const auto found = locality.find(host);
    found == locality.end() ? spread.unknown.push_back(host) : static_cast<void>(++spread.leaves[found->second]);
  }
  return spread;
}

}  // namespace fabricbench::fabric
