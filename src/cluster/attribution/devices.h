// GPUs, NICs and switch ports that one host had after another, or a host among others. What is slow over such a device,
// whoever has it, is the device's fault and not that of its hosts.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/attribution/device_readings.h"
#include "cluster/attribution/model.h"
#include "cluster/attribution/unit_scores.h"
#include "cluster/verdict.h"

namespace fabricbench::cluster {

/// Devices that the same readings went through, and that are slow in readings of one kind.
struct SlowDevices {
  std::vector<std::int32_t> devices;
  std::vector<std::int32_t> slow_hosts;      ///< over them, ascending
  std::vector<std::int32_t> hosts;           ///< all that had them
  std::vector<std::int32_t> fast_elsewhere;  ///< of the slow ones, those that are fast over other devices
  bool sends = false;
  bool receives = false;
  UnitScore score;  ///< of the slower way; partners count once for each host that met them
  std::int64_t readings = 0;
  double false_alarm = 1;
};

/// Peels as find_units does, whose flags tell which partners are slow themselves, and notes at each point what devices
/// explain. A device is slow with most partners of those hosts that are fast over others; either several hosts are slow
/// over it, or one that is fast over another device.
[[nodiscard]] std::vector<SlowDevices> find_devices(Model& model, const DeviceReadings& readings);

/// Adds to devices that are slow one way the other way, where that is slow alike without being sure by itself. Only
/// where it is settled which hosts are near: where that is not known, what is far looks slow. Whether there was any.
bool add_other_ways(Model& model, const DeviceReadings& readings, std::vector<SlowDevices>& devices);

/// The readings that went through them the ways in which they are slow, by place. Those of the other way tell where
/// their hosts are.
[[nodiscard]] std::vector<char> readings_over(const Sweep& sweep, const std::vector<SlowDevices>& slow);

void report_devices(const std::vector<SlowDevices>& slow, Verdict& verdict);

}  // namespace fabricbench::cluster
