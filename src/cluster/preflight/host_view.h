// What this host and its libraries say, for checks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/host/checks/checks.h"
#include "common/host/checks/view.h"

namespace fabricbench::cluster {

/// With commands, which have a time limit each.
[[nodiscard]] std::unique_ptr<host::View> view_of_this_host();

/// The hosts that were recorded in a folder: one if it has `sys` or `proc`, else one in each folder below it, which
/// also names it. Throws UsageError if there are none.
[[nodiscard]] std::vector<host::HostReport> examine_recorded_hosts(const std::string& folder);

}  // namespace fabricbench::cluster
