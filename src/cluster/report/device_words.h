// GPUs, NICs and switch ports in words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cluster/readings.h"
#include "cluster/verdict.h"

namespace fabricbench::cluster {

/// The kind of all blamed devices: `GPU`, or `device` if there are several kinds.
[[nodiscard]] std::string_view devices_word(const Sweep& sweep, const std::vector<Finding>& findings);

/// Of a kDevice: `SLOW GPU`.
[[nodiscard]] std::string_view device_tag(const Sweep& sweep, const Finding& finding);

/// Of a kDevice, for scripts: `Slow GPU: GPU-8f6a2c1e`, with a line end.
[[nodiscard]] std::string device_line(const Sweep& sweep, const Finding& finding);

/// Of a kDevice: `GPU 0000:17:00.0, GPU-8f6a2c1e is slow on all 3 hosts that had it (node[01-03]), ...`.
[[nodiscard]] std::string of_devices(const Sweep& sweep, const Finding& finding);

/// The devices that all readings of a host, or of its rail, went through: ` (NIC mlx5_2, 0x0c42a103)`; empty: not
/// known.
[[nodiscard]] std::string devices_beside(const Sweep& sweep, const Finding& finding);

}  // namespace fabricbench::cluster
