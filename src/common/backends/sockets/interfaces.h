#pragma once

#include <string>
#include <vector>

#include "common/backends/sockets/socket.h"

namespace fabricbench::sockets {

/// An address of this host and the mask of its network.
struct OwnAddress {
  Address address;
  Address mask;
};

/// A network interface as the kernel lists it (getifaddrs(3)). Addresses are in its order, IPv4 first.
struct Interface {
  std::string name;
  bool up = false;
  bool linked = false;  ///< carrier: something is connected at the other end, as far as the kernel knows
  std::vector<OwnAddress> addresses;
};

/// The interfaces of this network namespace.
[[nodiscard]] std::vector<Interface> interfaces();

/// For messages: `eth0 (10.0.0.1), ib0 (down), lo (127.0.0.1)`.
[[nodiscard]] std::string listed(const std::vector<Interface>& interfaces);

/// The addresses at which this rank can be reached. `asked` is the name of an interface, its address, or any address of
/// its network, so that one value can serve all hosts; empty: the loopback's and those of all interfaces that are up.
/// Link-local IPv6 addresses are left out, because they mean nothing without the link. Throws UsageError if there is no
/// such interface, and Error (missing) if it is down or has no address.
[[nodiscard]] std::vector<OwnAddress> choose_addresses(const std::string& asked,
                                                       const std::vector<Interface>& interfaces);

/// The name of the interface with this address; empty if there is none.
[[nodiscard]] std::string interface_of(const Address& address, const std::vector<Interface>& interfaces);

}  // namespace fabricbench::sockets
