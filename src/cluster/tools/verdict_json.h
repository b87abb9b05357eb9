#pragma once

#include <span>
#include <string>

#include <nlohmann/json.hpp>

#include "cluster/readings.h"
#include "cluster/verdict.h"

namespace fabricbench::cluster {

/// The verdict as one object of kind `slow_links` (docs/output.md, docs/output.schema.json): rates in GB/s, shares in
/// percent, hosts, rails and leaves by name. `notices` are what people were told besides.
[[nodiscard]] nlohmann::ordered_json verdict_json(const Sweep& sweep, const Verdict& verdict,
                                                  const VerdictSettings& settings,
                                                  std::span<const std::string> notices);

}  // namespace fabricbench::cluster
