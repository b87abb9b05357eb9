#include "cluster/fabric/fabric.h"

#include <map>
#include <string_view>

#include <fmt/format.h>

#include "cluster/import/text.h"

namespace fabricbench::fabric {
double lane_speed(const std::string& speed) {
  // InfiniBand Architecture Specification, volume 2: signalling rates; FDR10 is 40GbE's coding at 10.3125 Gb/s.
  static const std::map<std::string, double> speeds = {{"SDR", 2.5},       {"DDR", 5},     {"QDR", 10},
                                                       {"FDR10", 10.3125}, {"FDR", 14.06}, {"EDR", 25},
                                                       {"HDR", 50},        {"NDR", 100},   {"XDR", 200}};
  const auto found = speeds.find(speed);
  return found == speeds.end() ? 0 : found->second;
}

std::string text_of(const Rate& rate) { return fmt::format("{}x{}", rate.lanes, rate.speed); }

AdapterName adapter_name(const Node& node) {
  const std::size_t blank = node.name.find_first_of(" \t");
  // Firmware writes `MT25408 ConnectX Mellanox Technologies` until the host has said who it is.
  const bool is_firmware = node.name.find("Technologies") != std::string::npos;
  if (node.name.empty() || is_firmware) return {fmt::format("{} {:#018x}", node.name, node.guid), ""};
  if (blank == std::string::npos) return {node.name, ""};
  return {node.name.substr(0, blank), node.name.substr(node.name.find_first_not_of(" \t", blank))};
}

std::string shown_name(const Node& node) {
  if (node.name.empty()) return fmt::format("{:#018x}", node.guid);
  const std::size_t begin = node.name.find(';');
  const std::size_t colon = node.name.find(':', begin);
  if (node.kind != NodeKind::kSwitch || begin == std::string::npos || colon == std::string::npos) return node.name;
  const std::size_t part = node.name.find('/', colon);
  const std::size_t unit = node.name.rfind("/U");
  const bool is_of_chassis = part != std::string::npos && unit != std::string::npos && unit > part;
  return node.name.substr(begin + 1, colon - begin - 1) + (is_of_chassis ? node.name.substr(part, unit - part) : "");
}

bool serves_the_fabric(const Node& node) {
  const std::string name = cluster::lower(node.name);
  return name.find("aggregation node") != std::string::npos || name.starts_with("ufm") ||
         name.find(" ufm") != std::string::npos;
}

NumberedName numbered_name(std::string_view name) {
  NumberedName parts;
  for (std::size_t at = 0; at < name.size();) {
    std::int64_t number = 0;
    const auto read = std::from_chars(name.data() + at, name.data() + name.size(), number);
    const std::size_t digits = static_cast<std::size_t>(read.ptr - name.data()) - at;
    if (name[at] == '-' || digits == 0 || read.ec != std::errc()) {
      parts.shape += name[at++];
      continue;
    }
    parts.shape += '#';
    parts.numbers.push_back(number);
    parts.digits.push_back(name[at] == '0' ? digits : 0);
    at += digits;
  }
  return parts;
}

}  // namespace fabricbench::fabric
