// What this host and its libraries say, for checks.
#pragma once

#include <memory>

#include "common/host/checks/view.h"

namespace fabricbench::cluster {

/// With commands, which have a time limit each.
[[nodiscard]] std::unique_ptr<host::View> view_of_this_host();

}  // namespace fabricbench::cluster
