// Which RDMA device each rank uses, as --devices says it: pure functions of what every rank told all others.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/pairs.h"
#include "common/record/field.h"

namespace fabricbench {

/// How far a port is from where a rank runs, from near to far.
enum class PortDistance {
  kNear,     ///< the rank runs on the port's NUMA node only
  kUnknown,  ///< the rank is not bound to one node, or the port's is not known
  kFar       ///< the rank never runs on the port's node
};

/// A port that is active, as one rank sees it.
struct PortSeen {
  std::string device;
  int port = 1;
  PortDistance distance = PortDistance::kUnknown;
};

template <typename Form, record::Of<PortSeen> Message>
void describe(Form& form, Message& port) {
  form.hidden(port.device, port.port, port.distance);
}

/// What a rank knows of its host.
struct RankPorts {
  std::uint64_t host_id = 0;  ///< equal on the ranks of one host, and on no others
  std::string host;
  std::vector<std::string> devices;  ///< all
  std::vector<PortSeen> active;      ///< one of each device that has any
};

template <typename Form, record::Of<RankPorts> Message>
void describe(Form& form, Message& ports) {
  form.hidden(ports.host_id, ports.host, ports.devices, ports.active);
}

/// The port that a rank uses.
struct ChosenPort {
  std::string device;  ///< empty: the rank is in no pair
  int port = 0;        ///< 0: any of the device that is active
};

struct PortChoice {
  std::vector<ChosenPort> ports;  ///< by rank
  std::string notice;
};

/// Gives each rank that is in a pair a device. `rule` is that of --devices:
/// - names with commas between: the k-th rank of each host takes the k-th, and where there are n times as many ranks,
///   they go round;
/// - `all`: the devices of the host that are active, by name, of which there have to be as many as ranks;
/// - `rail`: the same, and both ranks of a pair have to come to devices of one name;
/// - `auto`: the nearest one, and of several the one that fewest ranks have so far.
/// The two ranks of a pair within one host count as one and take the same device, unless one of them is in other pairs
/// too. Depends on its arguments only, so all ranks come to the same choice, or the same error.
/// Throws Error (missing): a device that a host does not have, or none that is active; UsageError: a number of ranks
/// that does not fit, an empty list, a rail between devices of two names.
[[nodiscard]] PortChoice choose_ports(std::string_view rule, const std::vector<RankPorts>& ranks,
                                      const std::vector<Pair>& pairs);

/// Whether `first` comes before `second` where numbers count as such: mlx5_2 before mlx5_10.
[[nodiscard]] bool naturally_before(std::string_view first, std::string_view second);

}  // namespace fabricbench
