#include "cluster/expected/path.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

namespace fabricbench::expected {
namespace {

using Names = std::vector<std::string_view>;  // of switches, from the top down

Names names_in(std::string_view switches) {
  Names names;
  while (!switches.empty()) {
    const std::size_t dot = std::min(switches.find('.'), switches.size());
    names.push_back(switches.substr(0, dot));
    switches.remove_prefix(std::min(dot + 1, switches.size()));
  }
  return names;
}

/// Whether nothing but the operation itself was under way.
bool was_alone(const Context& context) {
  return context.figure == Figure::kLatency ||
         (context.figure == Figure::kCollective && context.options.timing == Timing::kIsolated);
}

}  // namespace

Paths::Paths(const Context& context) : context_(context) {
  for (const HostFacts& host : context.host_facts) switches_of_[host.name] = host.switches;
}

int Paths::most_switches(const GroupFacts& group) const {
  Names common;
  std::size_t levels = 0;
  for (std::size_t i = 0; i < group.host_names.size(); ++i) {
    const auto known = switches_of_.find(group.host_names[i]);
    if (known == switches_of_.end() || known->second.empty()) return 0;
    const Names names = names_in(known->second);
    levels = std::max(levels, names.size());
    if (i == 0) common = names;
    common.erase(std::mismatch(common.begin(), common.end(), names.begin(), names.end()).first, common.end());
  }
  // Up from one host's leaf to the switch above all, and down again. Hosts without a switch above all have two on top.
  const std::size_t below = levels - common.size();
  return static_cast<int>(2 * below + (common.empty() ? 0 : 1));
}

Seconds Paths::path_latency(const GroupFacts& group, const Latency& latency) const {
  const auto hosts = static_cast<std::uint64_t>(group.host_names.size());
  if (latency.ends <= 0 || hosts < 2 || !was_alone(context_)) return 0;
  const auto messages = static_cast<int>(std::bit_width(hosts - 1));
  const int switches = std::max(1, most_switches(group)) + messages - 1;
  return messages * latency.ends + switches * latency.of_switch;
}

}  // namespace fabricbench::expected
