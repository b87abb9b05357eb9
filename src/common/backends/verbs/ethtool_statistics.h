#pragma once

#include <functional>
#include <string>

#include "common/backends/verbs/port_counters.h"

namespace fabricbench::verbs {

/// Returns the statistics of a network interface by the driver's names; empty if they cannot be read.
using InterfaceStatistics = std::function<PortCounters(const std::string& interface)>;

/// Those that `ethtool -S` prints. Empty for an interface in another network namespace or of a driver without any.
/// Source: SIOCETHTOOL in linux/sockios.h, ETHTOOL_GSTATS in linux/ethtool.h.
[[nodiscard]] PortCounters ethtool_statistics(const std::string& interface);

}  // namespace fabricbench::verbs
