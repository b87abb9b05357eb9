#include "common/backends/sockets/interfaces.h"

#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/core/error.h"
#include "common/core/ownership.h"

namespace fabricbench::sockets {
namespace {

Interface& named(const std::string& name, std::vector<Interface>& known) {
  const auto found = std::find_if(known.begin(), known.end(), [&](const Interface& one) { return one.name == name; });
  if (found != known.end()) return *found;
  return known.emplace_back(Interface{.name = name, .addresses = {}});
}

void add(const ifaddrs& entry, std::vector<Interface>& known) {
  Interface& interface = named(entry.ifa_name, known);
  interface.up = (entry.ifa_flags & IFF_UP) != 0;
  interface.linked = (entry.ifa_flags & IFF_RUNNING) != 0;
  if (entry.ifa_addr == nullptr || entry.ifa_netmask == nullptr) return;
  const Address address = endpoint(entry.ifa_addr).address;
  if (address.family == AF_UNSPEC) return;
  interface.addresses.push_back({address, endpoint(entry.ifa_netmask).address});
}

std::string state(const Interface& interface) {
  if (!interface.up) return "down";
  if (!interface.linked) return "no link";
  if (interface.addresses.empty()) return "no address";
  std::vector<std::string> texts;
  texts.reserve(interface.addresses.size());
  for (const OwnAddress& own : interface.addresses) texts.push_back(to_text(own.address));
  return fmt::format("{}", fmt::join(texts, ", "));
}

[[noreturn]] void refuse(const Interface& interface, const std::vector<Interface>& known) {
  const char* wrong = "has no address that other hosts could connect to";
  if (!interface.linked) wrong = "has no link";
  if (!interface.up) wrong = "is down";
  throw Error(ExitStatus::kMissing, fmt::format("--interface: '{}' {}; set it up, or choose one of: {}", interface.name,
                                                wrong, listed(known)));
}

bool is_on(const Interface& interface) { return interface.up && interface.linked; }

std::vector<OwnAddress> addresses_of(const Interface& interface, const std::vector<Interface>& known) {
  std::vector<OwnAddress> chosen;
  std::copy_if(interface.addresses.begin(), interface.addresses.end(), std::back_inserter(chosen),
               [](const OwnAddress& own) { return own.address.family == AF_INET || !is_link_local(own.address); });
  if (!is_on(interface) || chosen.empty()) refuse(interface, known);
  return chosen;
}

std::vector<OwnAddress> all_addresses(const std::vector<Interface>& known) {
  std::vector<OwnAddress> chosen;
  for (const Interface& interface : known) {
    if (!is_on(interface)) continue;
    std::copy_if(interface.addresses.begin(), interface.addresses.end(), std::back_inserter(chosen),
                 [](const OwnAddress& own) { return !is_link_local(own.address); });
  }
  if (chosen.empty()) {
    throw Error(ExitStatus::kMissing,
                fmt::format("no network interface is up and has an address; existing ones: {}", listed(known)));
  }
  return chosen;
}

/// The first own address for which `fits` holds, with its interface; null if there is none.
template <typename Predicate>
std::pair<const Interface*, OwnAddress> find_address(const std::vector<Interface>& known, Predicate fits) {
  for (const Interface& interface : known) {
    const auto own = std::find_if(interface.addresses.begin(), interface.addresses.end(), fits);
    if (own != interface.addresses.end()) return {&interface, *own};
  }
  return {};
}

std::vector<OwnAddress> address_in_network(const std::string& asked, const std::vector<Interface>& known) {
  const std::optional<Address> address = parse_address(asked);
  auto [interface, own] = find_address(known, [&](const OwnAddress& one) { return one.address == address; });
  if (interface == nullptr && address) {
    std::tie(interface, own) =
        find_address(known, [&](const OwnAddress& one) { return in_one_network(one.address, *address, one.mask); });
  }
  if (interface == nullptr) {
    throw UsageError(
        fmt::format("--interface: '{}' is neither an interface nor in the network of one; choose one of: {}", asked,
                    listed(known)));
  }
  if (!is_on(*interface)) refuse(*interface, known);
  return {own};
}

}  // namespace

std::vector<Interface> interfaces() {
  ifaddrs* first = nullptr;
  check(::getifaddrs(&first), "getifaddrs");
  const Handle<ifaddrs, ::freeifaddrs> owner(first);
  std::vector<Interface> known;
  for (const ifaddrs* entry = first; entry != nullptr; entry = entry->ifa_next) add(*entry, known);
  for (Interface& interface : known) {
    std::stable_partition(interface.addresses.begin(), interface.addresses.end(),
                          [](const OwnAddress& own) { return own.address.family == AF_INET; });
  }
  return known;
}

std::string listed(const std::vector<Interface>& interfaces) {
  std::vector<std::string> texts;
  texts.reserve(interfaces.size());
  for (const Interface& interface : interfaces) {
    texts.push_back(fmt::format("{} ({})", interface.name, state(interface)));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::vector<OwnAddress> choose_addresses(const std::string& asked, const std::vector<Interface>& interfaces) {
  if (asked.empty()) return all_addresses(interfaces);
  for (const Interface& interface : interfaces) {
    if (interface.name == asked) return addresses_of(interface, interfaces);
  }
  return address_in_network(asked, interfaces);
}

std::string interface_of(const Address& address, const std::vector<Interface>& interfaces) {
  const auto [interface, own] = find_address(interfaces, [&](const OwnAddress& one) { return one.address == address; });
  return interface == nullptr ? "" : interface->name;
}

}  // namespace fabricbench::sockets
