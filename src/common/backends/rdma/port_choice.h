// The RDMA device of each rank, as --devices chooses it: pure functions of facts that every rank knows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/pairs.h"
#include "common/record/field.h"

namespace fabricbench {

/// A device of a host that no rank uses, and why: `port 1 is DOWN`.
struct LeftOutDevice {
  std::string host;
  std::string device;
  std::string reason;
};

template <typename Visitor, record::Of<LeftOutDevice> Message>
void describe(Visitor& visitor, Message& left_out) {
  visitor.internal(left_out.host, left_out.device, left_out.reason);
}

/// A line for each device and reason, with the hosts where it is so: `Left out: mlx5_3 of host b, because port 1 is
/// DOWN`; at most a screenful. A device that several ranks of a host report counts once.
[[nodiscard]] std::vector<std::string> left_out_notices(const std::vector<LeftOutDevice>& devices);

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
  std::string kind{};             ///< such as `InfiniBand, 400 Gb/s`
  bool virtual_function = false;  ///< of an adapter that this host has too
};

template <typename Visitor, record::Of<PortSeen> Message>
void describe(Visitor& visitor, Message& port) {
  visitor.internal(port.device, port.port, port.distance, port.kind, port.virtual_function);
}

/// A rank's facts about its host.
struct RankPorts {
  std::uint64_t host_id = 0;  ///< the same on the ranks of one host, and on no others
  std::string host;
  std::vector<std::string> devices;       ///< all devices
  std::vector<PortSeen> active;           ///< one port of each device that has an active port
  std::vector<LeftOutDevice> unusable{};  ///< the other devices
};

template <typename Visitor, record::Of<RankPorts> Message>
void describe(Visitor& visitor, Message& ports) {
  visitor.internal(ports.host_id, ports.host, ports.devices, ports.active, ports.unusable);
}

/// The port that a rank uses.
struct ChosenPort {
  std::string device;  ///< empty: the rank is in no pair, or its host has no device
  int port = 0;        ///< 0: any active port of the device
};

struct PortChoice {
  std::vector<ChosenPort> ports;        ///< by rank
  std::string notice;                   ///< empty: nothing to say
  std::vector<LeftOutDevice> left_out;  ///< what the rule could have chosen, and did not
};

/// Chooses a device for each rank that is in a pair. `rule` is the value of --devices:
/// - names separated by commas: the k-th rank of each host takes the k-th device; with n times as many ranks, each
///   device is taken n times, in turn;
/// - `all`: the active devices of each host by name; a host must have as many ranks as active devices. If it has more
///   devices than ranks, virtual functions (beside active ports of adapters) and devices of another kind than most of
///   the job are left out (storage NICs). If it has fewer, some ranks get devices that are not active, preferably those
///   that other hosts use, so that ranks keep their rails;
/// - `rail`: the same, and both ranks of a pair must get devices of the same name;
/// - `auto`: the nearest device; of several, the one with the fewest ranks so far.
/// The two ranks of a pair within one host count as one and take the same device, unless one of them is in other pairs
/// too. A rank may get a device that its host does not have, or that is not active; it cannot be opened then. The
/// result depends on the arguments only, so all ranks get the same choice or the same error.
/// Throws UsageError for an unsuitable number of ranks, an empty list, or a rail between devices of different names,
/// and Error (missing) for a name that no host has.
[[nodiscard]] PortChoice choose_ports(std::string_view rule, const std::vector<RankPorts>& ranks,
                                      const std::vector<Pair>& pairs);

/// Whether `first` comes before `second` if digits are compared as numbers: mlx5_2 before mlx5_10.
[[nodiscard]] bool naturally_before(std::string_view first, std::string_view second);

}  // namespace fabricbench
