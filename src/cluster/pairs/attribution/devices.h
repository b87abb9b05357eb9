// Devices: GPUs, NICs and switch ports. Their readings, and slow ones: those that several hosts used, or that a host
// used besides others. If readings over such a device are slow for all hosts, the device is to blame, and not its
// hosts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cluster/pairs/attribution/model.h"
#include "cluster/pairs/attribution/units.h"
#include "cluster/pairs/verdict.h"

namespace fabricbench::cluster {

/// The effect of a device on readings of one kind, in one role.
struct DeviceEffect {
  std::int32_t device = 0;
  std::int32_t test = 0;
  Role role = Role::kSender;
  std::size_t begin = 0;  ///< its entries in DeviceReadings::entries
  std::size_t end = 0;
};

/// The readings over devices that can be told from hosts. Left out are devices that one rail of one host used, in all
/// of its readings.
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

/// Slow devices that the same readings went through.
struct SlowDevices {
  std::vector<std::int32_t> devices;
  std::vector<std::int32_t> slow_hosts;      ///< hosts that are slow over them, ascending
  std::vector<std::int32_t> hosts;           ///< all hosts that used them, ascending
  std::vector<std::int32_t> fast_elsewhere;  ///< slow hosts that are fast over other devices
  bool sends = false;
  bool receives = false;
  UnitScore score;  ///< of the slower direction; a partner counts once for each host that met it
  std::int64_t readings = 0;
  double false_alarm = 1;
};

/// Finds slow devices by peeling, as find_units does, and sets Point::over_slow_device. The flags of find_units show
/// which partners are slow themselves. A device is slow with most partners, and either several hosts are slow over it,
/// or one host that is fast over another device.
[[nodiscard]] std::vector<SlowDevices> find_devices(Model& model, const DeviceReadings& readings);

/// By place, whether a reading went through a slow device in a direction in which it is slow.
[[nodiscard]] std::vector<char> readings_over(const Sweep& sweep, const std::vector<SlowDevices>& slow);

void report_devices(const std::vector<SlowDevices>& slow, Verdict& verdict);

}  // namespace fabricbench::cluster
