#include "common/host/checks/checks.h"
#include "common/host/checks/devices.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace fabricbench::host {
namespace {

constexpr std::uint64_t kManyBits = 1'000'000;  // below this, lanes differ by chance
constexpr double kNearlyAll = 0.9;

/// `rx_err_lane_3_phy: 17`, as mlx5 prints it: bits that error correction has repaired.
void look_at_corrected_bits(Look& host, const std::string& interface) {
  const std::string source = "command/ethtool -S " + interface;
  constexpr std::string_view kBefore = "rx_err_lane_";
  std::map<std::string, std::uint64_t> lanes;
  for (const std::string& line : host.lines(source)) {
    const std::string_view text = without_blanks(line);
    const std::size_t colon = text.find("_phy: ");
    if (!text.starts_with(kBefore) || colon == std::string_view::npos) continue;
    const std::string lane(text.substr(kBefore.size(), colon - kBefore.size()));
    lanes[lane] = host.number_in<std::uint64_t>(source, text.substr(colon + std::string_view("_phy: ").size()));
  }
  if (lanes.size() < 2) throw NotSeen(source, "tells nothing of single lanes");
  std::uint64_t all = 0;
  for (const auto& [lane, bits] : lanes) all += bits;
  const auto worst =
      std::max_element(lanes.begin(), lanes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const double share = static_cast<double>(worst->second) / static_cast<double>(std::max<std::uint64_t>(all, 1));
  if (all < kManyBits || share < kNearlyAll) return;
  const std::string uncorrected = host.field(source, "     rx_pcs_symbol_err_phy");
  host.report({.level = CheckLevel::kNote,
               .device = interface,
               .measured = fmt::format("lane {} has {} of {} corrected bits ({:.1f} %); {} symbols were not corrected",
                                       worst->first, worst->second, all, 100 * share, uncorrected),
               .expected = "lanes that are much alike",
               .expected_by = "the other lanes of the link, since the last reset",
               .consequence = "one lane of the cable or module is bad; when correction fails, packets are lost",
               .next = fmt::format("clean or replace the cable or module; ethtool -m {}", interface)});
}

/// A channel whose laser is on and which receives nothing. One that is off and dark is not in use: a port of four lanes
/// may be used as one.
void look_at_optics(Look& host, const std::string& interface) {
  const std::string source = "command/ethtool -m " + interface;
  std::map<std::string, std::string> values;
  for (const std::string& line : host.lines(source)) {
    const std::size_t colon = line.find(" : ");
    if (colon == std::string::npos) continue;
    const std::string key(without_blanks(std::string_view(line).substr(0, colon)));
    values[key] = without_blanks(std::string_view(line).substr(colon + 2));
  }
  if (values.count("Identifier") == 0) throw NotSeen(source, "tells nothing of a module");
  const auto report = [&](const std::string& measured, const std::string& expected, const std::string& consequence) {
    host.report({.device = interface,
                 .measured = measured,
                 .expected = expected,
                 .expected_by = "ethtool -m, the module itself",
                 .consequence = consequence,
                 .next = "clean or replace the module or the fibre"});
  };
  for (const auto& [key, value] : values) {
    if (key.starts_with("Module ") && key.find("alarm") != std::string::npos && value == "On") {
      report(key, "no alarm", "the module is outside its limits, and its link may fail");
    }
    constexpr std::string_view kPower = "Rcvr signal avg optical power";
    if (!key.starts_with(kPower) || value.find("-inf") == std::string::npos) continue;
    const std::string channel(without_blanks(std::string_view(key).substr(kPower.size())));
    const auto bias = values.find("Laser tx bias current " + channel);
    if (bias == values.end() || bias->second.starts_with("0.000")) continue;
    report(fmt::format("no light is received on {}", channel), "light on all channels that send", "the link is down");
  }
}

void examine_link_lanes(Look& host) {
  host.each(rdma_devices(host), [&](const std::string& device) {
    if (host.text(fmt::format("{}/{}/ports/1/link_layer", kRdmaClass, device)) != "Ethernet") return;
    const std::vector<std::string> interfaces = interfaces_of(host, device);
    if (interfaces.empty()) throw NotSeen(fmt::format("{}/{}/device/net", kRdmaClass, device), "has no interface here");
    host.each(interfaces, [&](const std::string& interface) {
      host.attempt([&] { look_at_corrected_bits(host, interface); });
      look_at_optics(host, interface);
    });
  });
}

}  // namespace

Check link_lanes_check() {
  return {.name = "link_lanes",
          .what = "Lanes of RoCE links need much the same correction, and their modules receive light without alarms.",
          .reads = "ethtool -S INTERFACE, ethtool -m INTERFACE",
          .absent = no_roce_port,
          .look = examine_link_lanes};
}

}  // namespace fabricbench::host
