#pragma once

#include <string>
#include <vector>

#include "common/backends/sockets/address.h"

namespace fabricbench::sockets {

/// An address of this host and the mask of the network that it is in.
struct OwnAddress {
  Address address;
  Address mask;
};

/// A network interface as the kernel lists it (getifaddrs(3)). Addresses are in its order, IPv4 first.
struct Interface {
  std::string name;
  bool up = false;
  bool linked = false;  ///< something is at the other end of its cable, as far as the kernel knows
  std::vector<OwnAddress> addresses;
};

/// The interfaces of this network namespace.
[[nodiscard]] std::vector<Interface> interfaces();

/// For people: `eth0 (10.0.0.1), ib0 (down), lo (127.0.0.1)`.
[[nodiscard]] std::string listed(const std::vector<Interface>& interfaces);

/// The addresses at which this rank can be reached. `asked` is the name of an interface, an address of one, or any
/// address of the network that one is in, so that one address can be given for all hosts; empty: those of the loopback
/// and of all interfaces that are up. IPv6 addresses of a link are left out, because they say nothing without the link.
/// Throws UsageError where there is no such interface, and Error (missing) where it is down or has no address.
[[nodiscard]] std::vector<OwnAddress> choose_addresses(const std::string& asked,
                                                       const std::vector<Interface>& interfaces);

/// The name of the interface that has this address; empty where none has.
[[nodiscard]] std::string interface_of(const Address& address, const std::vector<Interface>& interfaces);

}  // namespace fabricbench::sockets
