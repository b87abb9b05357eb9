#include "cluster/fabric/locality.h"

#include <algorithm>

#include <fmt/format.h>

#include "cluster/fabric/findings.h"
#include "cluster/hosts/host_list.h"
#include "cluster/import/text.h"
#include "common/core/error.h"
#include "common/core/plain_text.h"

namespace fabricbench::fabric {
namespace {

/// The value of `key=` in a line, in which words have no blanks; nothing there: empty. Slurm's keys know no case.
std::string_view value_of(std::string_view line, std::string_view key) {
  for (const std::string_view word : cluster::words_of(line)) {
    const std::size_t equals = word.find('=');
    if (equals != std::string_view::npos && cluster::lower(word.substr(0, equals)) == key)
      return word.substr(equals + 1);
  }
  return {};
}

void take_switch(std::string_view line, const std::string& where, Locality& locality) {
  const std::string_view name = value_of(line, "switchname");
  if (cluster::trimmed(line).empty()) return;
  if (name.empty()) {
    throw Error(ExitStatus::kFailure,
                fmt::format("{}: SwitchName= expected: '{}'", where, printable(cut_short(line, 100))));
  }
  const std::string_view nodes = value_of(line, "nodes");
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

bool is_of_slurm(std::string_view text) { return cluster::lower(text.substr(0, 11)) == "switchname="; }

Locality read_slurm_topology(std::string_view text, std::string_view file) {
  Locality locality;
  std::string line;
  cluster::TextLines lines(text);
  while (lines.next()) {
    const std::string_view part = lines.line().substr(0, lines.line().find('#'));
    const bool continues = part.ends_with('\\');
    line += part.substr(0, part.size() - (continues ? 1 : 0));
    if (continues && lines.is_whole()) continue;
    take_switch(line, fmt::format("{}:{}", file, lines.number()), locality);
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

}  // namespace fabricbench::fabric
