// Hosts that were cabled in the order of their names, on leaf after leaf and port after port, as most are: then a cable
// that breaks the order was exchanged, and a gap in both names and ports is a cable that is missing.
#pragma once

#include <vector>

#include "cluster/fabric/findings.h"

namespace fabricbench::fabric {

/// Nothing is said of hosts without such an order.
[[nodiscard]] std::vector<Finding> host_order_findings(const Fabric& fabric, const Shape& shape);

}  // namespace fabricbench::fabric
