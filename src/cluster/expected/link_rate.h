// The rate of the links between the ranks of a job.
#pragma once

#include <string>

#include "cluster/baseline/identity.h"
#include "common/core/units.h"
#include "common/host/network.h"
#include "common/record/context.h"

namespace fabricbench::expected {

/// What a short message takes from the memory of one host to that of another: at both ends, and in each switch.
struct Latency {
  Seconds ends = 0;  ///< 0: unknown
  Seconds of_switch = 0;
};

/// What links carry in one direction, of the host or GPU with the slowest.
struct LinkRate {
  double line = 0;      ///< bytes per second with headers; 0: unknown
  double payload = 0;   ///< bytes per second without headers; 0: unknown
  Latency latency{};    ///< of a message through them
  std::string words{};  ///< such as `1 x 100 Gbit/s (mlx5_0:1), 98.0 % of it payload`; if unknown, why
};

/// The share of payload in what a device sends: of full frames of TCP over IPv4 with timestamps at the MTU of an
/// interface (1500 if unknown), or of RDMA packets of 4096 bytes at a port. Source: IEEE 802.3 (38 bytes around each
/// frame), RFC 9293 and 7323 (52 bytes of headers), InfiniBand Architecture Specification volume 1 (26 bytes around
/// each packet), its Annex A17 for RoCEv2 (82 bytes with those of Ethernet and IP).
[[nodiscard]] double payload_share(const host::NetworkDevice& device);

/// Whether the speed that a device reports limits what it carries. That of virtual devices is only a name.
[[nodiscard]] bool has_real_speed(const host::NetworkDevice& device);

/// Of RDMA ports; that of TCP over an interface depends on the system, and is unknown. Source: what vendors state for
/// ConnectX-6 and later adapters (below 0.6 us between applications), Quantum switches (130 ns) and Spectrum switches
/// (300 ns, cut-through).
[[nodiscard]] Latency latency_of(const host::NetworkDevice& device);

/// Of the NICs that carried the data between hosts; with NCCL, of all RDMA ports like these. `line_rate`: of each NIC
/// in bytes per second, in place of what the system reports; 0: as it reports.
[[nodiscard]] LinkRate nic_rate(const Context& context, const baseline::DeviceBytes& bytes, double line_rate);

/// Of the NVLinks of the GPUs of one host.
[[nodiscard]] LinkRate nvlink_rate(const Context& context);

}  // namespace fabricbench::expected
