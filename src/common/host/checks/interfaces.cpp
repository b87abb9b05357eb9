#include "common/host/checks/interfaces.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "common/host/files.h"

namespace fabricbench::host {
namespace {

bool is_link_local(const std::string& address) {
  return address.starts_with("fe80:") || address.starts_with("169.254.");
}

/// Whether an address, `10.0.0.7/24`, is in a subnet, `10.0.0.0/8`.
bool is_in_subnet(const std::string& address, const std::string& subnet) {
  const std::size_t slash = subnet.find('/');
  in_addr one{};
  in_addr other{};
  const auto bits = parse_integer<unsigned>(std::string_view(subnet).substr(slash + 1));
  if (!bits || *bits > 32 || ::inet_pton(AF_INET, subnet.substr(0, slash).c_str(), &one) != 1) return false;
  if (::inet_pton(AF_INET, address.substr(0, address.find('/')).c_str(), &other) != 1) return false;
  const std::uint32_t mask = *bits == 0 ? 0 : ~std::uint32_t{0} << (32 - *bits);
  return ((ntohl(one.s_addr) ^ ntohl(other.s_addr)) & mask) == 0;
}

}  // namespace

bool HostInterface::is_bridge_of_containers() const {
  constexpr auto kBeginnings = std::to_array<std::string_view>(
      {"docker", "virbr", "br-", "veth", "cni", "lxc", "lxd", "podman", "flannel", "cali", "cilium"});
  return std::any_of(kBeginnings.begin(), kBeginnings.end(),
                     [this](std::string_view begin) { return name.starts_with(begin); });
}

std::string HostInterface::obstacle() const {
  if (state != "up") return state == "down" ? "is down" : "has no carrier";
  if (addresses.empty()) return "has no address";
  if (std::all_of(addresses.begin(), addresses.end(), is_link_local)) {
    return fmt::format("has only the link-local address {}", addresses.front());
  }
  return "";
}

std::string HostInterface::detour() const {
  if (name == "lo") return "leads every host to itself";
  return is_bridge_of_containers() ? "is a bridge of containers, on this host only" : "";
}

bool HostInterface::is_named_by(const std::string& text) const {
  if (text.find('/') == std::string::npos) return name == text;
  return std::any_of(addresses.begin(), addresses.end(),
                     [&](const std::string& address) { return is_in_subnet(address, text); });
}

void each_link(Look& look, const std::function<void(const std::string&)>& action) {
  look.each(look.names(kNetClass), [&](const std::string& interface) {
    const std::string folder = fmt::format("{}/{}/", kNetClass, interface);
    const bool is_device = look.names_if_any(folder + "device").has_value();
    if (is_device || look.names_if_any(folder + "bonding").has_value()) action(interface);
  });
}

std::vector<HostInterface> interfaces_of_host(Look& look) {
  std::vector<HostInterface> interfaces;
  for (const std::string& line : look.lines("system/interfaces")) {
    std::istringstream words(line);
    HostInterface each;
    std::string address;
    words >> each.name >> each.state >> address;
    const auto known = std::find_if(interfaces.begin(), interfaces.end(),
                                    [&](const HostInterface& other) { return other.name == each.name; });
    HostInterface& interface = known == interfaces.end() ? interfaces.emplace_back(std::move(each)) : *known;
    if (!address.empty()) interface.addresses.push_back(address);
  }
  return interfaces;
}

}  // namespace fabricbench::host
