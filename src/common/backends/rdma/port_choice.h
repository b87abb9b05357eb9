// The RDMA device of each rank, as --devices chooses it: pure functions of facts that every rank knows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/pairs.h"
#include "common/record/field.h"

namespace fabricbench {

/// The distance between a port and the NUMA nodes where a rank runs.
enum class PortDistance {
  kNear,     ///< the rank runs on the port's NUMA node only
  kUnknown,  ///< the rank is not bound to one node, or the port's node is unknown
  kFar       ///< the rank never runs on the port's node
};

/// An active port, as one rank sees it.
struct PortSeen {
  std::string device;
  int port = 1;
  PortDistance distance = PortDistance::kUnknown;
};

template <typename Form, record::Of<PortSeen> Message>
void describe(Form& form, Message& port) {
  form.hidden(port.device, port.port, port.distance);
}

/// A rank's facts about its host.
struct RankPorts {
  std::uint64_t host_id = 0;  ///< the same on the ranks of one host, and on no others
  std::string host;
  std::vector<std::string> devices;  ///< all devices
  std::vector<PortSeen> active;      ///< one port of each device that has an active port
};

template <typename Form, record::Of<RankPorts> Message>
void describe(Form& form, Message& ports) {
  form.hidden(ports.host_id, ports.host, ports.devices, ports.active);
}

/// The port that a rank uses.
struct ChosenPort {
  std::string device;  ///< empty: the rank is in no pair
  int port = 0;        ///< 0: any active port of the device
};

struct PortChoice {
  std::vector<ChosenPort> ports;  ///< by rank
  std::string notice;
};

/// Chooses a device for each rank that is in a pair. `rule` is the value of --devices:
/// - names separated by commas: the k-th rank of each host takes the k-th device; with n times as many ranks, each
///   device is taken n times, in turn;
/// - `all`: the active devices of each host by name; a host must have as many ranks as active devices;
/// - `rail`: the same, and both ranks of a pair must get devices of the same name;
/// - `auto`: the nearest device; of several, the one with the fewest ranks so far.
/// The two ranks of a pair within one host count as one and take the same device, unless one of them is in other pairs
/// too. The result depends on the arguments only, so all ranks get the same choice or the same error.
/// Throws Error (missing) if a host lacks the device or has no active one, and UsageError for an unsuitable number of
/// ranks, an empty list, or a rail between devices of different names.
[[nodiscard]] PortChoice choose_ports(std::string_view rule, const std::vector<RankPorts>& ranks,
                                      const std::vector<Pair>& pairs);

/// Whether `first` comes before `second` if digits are compared as numbers: mlx5_2 before mlx5_10.
[[nodiscard]] bool naturally_before(std::string_view first, std::string_view second);

}  // namespace fabricbench
