// The readings over each GPU, NIC and switch port.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cluster/attribution/model.h"
#include "cluster/verdict.h"

namespace fabricbench::cluster {

/// The effect of a device on readings of one kind, in one role.
struct DeviceEffect {
  std::int32_t device = 0;
  std::int32_t kind = 0;
  Role role = Role::kSender;
  std::size_t begin = 0;  ///< its entries in DeviceReadings::entries
  std::size_t end = 0;
};

/// The readings over devices that can be told from hosts. Left out are devices that belong to one rail of one host, if
/// that rail has no other device of the kind.
struct DeviceReadings {
  std::vector<DeviceEffect> effects;
  std::vector<Entry> entries;  ///< by effect, then by partner's host, then by own host

  [[nodiscard]] std::span<const Entry> entries_of(const DeviceEffect& effect) const {
    return std::span(entries).subspan(effect.begin, effect.end - effect.begin);
  }
};

[[nodiscard]] DeviceReadings list_devices(const Model& model);

/// Adds to findings on one host the devices that all of its readings, or all readings of its rail, went through.
void name_devices(const Sweep& sweep, Verdict& verdict);

}  // namespace fabricbench::cluster
