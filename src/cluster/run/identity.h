// What has to be equal where the figures of two launches are compared, and what may differ.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/record/context.h"
#include "common/record/row.h"

namespace fabricbench::baseline {

/// The key of what carried the data, which is compared before any figure is.
inline constexpr std::string_view kCarriedBy = "carried_by";
/// The key of the interfaces among these.
inline constexpr std::string_view kInterfaces = "interfaces";
/// The key of their firmware, which launches of earlier versions lack.
inline constexpr std::string_view kInterfaceFirmware = "interface_firmware";

/// Bytes that network devices moved during a launch, by host and device.
using DeviceBytes = std::map<std::string, std::map<std::string, double>>;

/// Adds what devices moved during a measurement, but for the loopback, which leads to no other host.
void count_bytes(const std::vector<NicBytes>& nics, DeviceBytes& bytes);

using UsedNics = std::set<std::string>;

/// The devices of one host that carried the data: those that moved at least a fifth of what the busiest one did, so
/// that other traffic does not count.
[[nodiscard]] UsedNics used_nics_on(const std::map<std::string, double>& devices);

/// The network devices that carried the data between hosts, of all hosts. `payload` is the sum of all messages. Nothing
/// if no device was counted, or if the messages are too few bytes to stand out from what devices move anyway.
[[nodiscard]] std::optional<UsedNics> used_nics_of(const DeviceBytes& bytes, double payload);

/// By key: the program and its options, backend and library, ranks and hosts and their places in the fabric, GPUs,
/// network devices with rates, drivers, firmware and MTU, and the environment. A value that is not known is left out.
[[nodiscard]] record::Texts identity_of(const Context& context, const DeviceBytes& bytes, double payload);

/// By key: versions of fabricbench and of kernels, the launcher.
[[nodiscard]] record::Texts circumstances_of(const Context& context);

/// The job of the scheduler; empty: none.
[[nodiscard]] std::string allocation_of(const Context& context);

}  // namespace fabricbench::baseline
