#include "common/host/checks/interfaces.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "common/host/nics.h"

namespace fabricbench::host {
namespace {

bool is_link_local(const std::string& address) {
  return address.starts_with("fe80:") || address.starts_with("169.254.");
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
  std::vector<InterfaceAddress> own;
  for (const std::string& address : addresses) {
    in_addr ip{};
    const std::string digits = address.substr(0, address.find('/'));
    if (::inet_pton(AF_INET, digits.c_str(), &ip) == 1) own.push_back({name, ntohl(ip.s_addr)});
  }
  return !interfaces_in(text, own).empty();
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
