// What is wrong in an InfiniBand fabric, as findings of pre-flight. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cluster/fabric/fabric.h"
#include "cluster/fabric/shape.h"
#include "cluster/preflight/overview.h"

namespace fabricbench::cluster {

/// A fabric as ibnetdiscover saw it, and what was learnt of it.
struct FabricView {
  /// `file` names the text in messages. Throws Error: `FILE:LINE: what`.
  FabricView(std::string_view text, std::string_view file);

  fabric::Fabric fabric;
  fabric::Shape shape;
  std::vector<std::string> hosts;
};

/// The checks whose findings these are, for Overview.
[[nodiscard]] const std::vector<host::Check>& fabric_checks();

/// Cables, rates and the subnet manager. With one leaf there is nothing to compare: that could not be checked.
void add_cables(const FabricView& view, Overview& overview);

/// Error counters, from what ibqueryerrors or perfquery printed, with the other end of each port that is in the fabric.
void add_errors(const FabricView& view, std::string_view text, std::string_view file, Overview& overview);

}  // namespace fabricbench::cluster
