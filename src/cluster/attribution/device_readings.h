// Which readings went through which GPU, NIC or switch port.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cluster/attribution/model.h"
#include "cluster/verdict.h"

namespace fabricbench::cluster {

/// What a device does to readings of one kind, in one role.
struct DeviceEffect {
  std::int32_t device = 0;
  std::int32_t kind = 0;
  Role role = Role::kSender;
  std::size_t begin = 0;  ///< its entries in DeviceReadings::entries
  std::size_t end = 0;
};

/// The readings of devices that can be told from hosts: of those that always go with one rail of one host, and it with
/// them, none.
struct DeviceReadings {
  std::vector<DeviceEffect> effects;
  std::vector<Entry> entries;  ///< by effect, then by partner's host, then by own host

  [[nodiscard]] std::span<const Entry> entries_of(const DeviceEffect& effect) const {
    return std::span(entries).subspan(effect.begin, effect.end - effect.begin);
  }
};

[[nodiscard]] DeviceReadings list_devices(const Model& model);

/// Names beside the hosts and rails of findings what all their readings went through.
void name_devices(const Sweep& sweep, Verdict& verdict);

}  // namespace fabricbench::cluster
