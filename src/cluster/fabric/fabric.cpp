#include "cluster/fabric/fabric.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

namespace fabricbench::fabric {
namespace {

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char letter) { return std::tolower(letter); });
  return text;
}

}  // namespace

double lane_speed(const std::string& speed) {
  // InfiniBand Architecture Specification, volume 2: signalling rates; FDR10 is 40GbE's coding at 10.3125 Gb/s.
  static const std::map<std::string, double> kSpeeds = {{"SDR", 2.5},       {"DDR", 5},     {"QDR", 10},
                                                        {"FDR10", 10.3125}, {"FDR", 14.06}, {"EDR", 25},
                                                        {"HDR", 50},        {"NDR", 100},   {"XDR", 200}};
  const auto found = kSpeeds.find(speed);
  return found == kSpeeds.end() ? 0 : found->second;
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
  const std::string name = lower(node.name);
  return name.find("aggregation node") != std::string::npos || name.starts_with("ufm") ||
         name.find(" ufm") != std::string::npos;
}

std::string NumberedName::with(std::int64_t other) const {
  return fmt::format("{}{:0{}}{}", prefix, other, digits, suffix);
}

NumberedName numbered_name(const std::string& name) {
  std::size_t end = name.size();
  while (end > 0 && !is_digit(name[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && is_digit(name[begin - 1])) --begin;
  NumberedName parts{name.substr(0, begin), -1, name[begin] == '0' ? end - begin : 0, name.substr(end)};
  const auto read = std::from_chars(name.data() + begin, name.data() + end, parts.number);
  if (begin == end || read.ec != std::errc()) return {name, -1, 0, ""};
  return parts;
}

}  // namespace fabricbench::fabric
