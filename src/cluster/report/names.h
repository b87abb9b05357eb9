// What hosts, rails, tests and groups are called in a report: names come from records, and anybody may have written
// them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "cluster/readings.h"

namespace fabricbench::cluster {

/// A host's name for sentences: printable, on one line.
[[nodiscard]] std::string host_name(const Sweep& sweep, std::int32_t host);
[[nodiscard]] std::string test_name(const Sweep& sweep, std::int32_t kind);

/// `rail mlx5_1`, or `its only rail` where it has no name.
[[nodiscard]] std::string rail_name(const Sweep& sweep, std::int32_t rail);

/// A host's name for lists that scripts read: printable, with U+FFFD in the place of blanks, commas and brackets, which
/// separate names there. So every host is one item of the list.
[[nodiscard]] std::string listed_name(std::string_view name);

/// Such names, folded: `node[01-08]`.
[[nodiscard]] std::string listed_names(std::span<const std::string> names);

/// Whether programs accept a name as this host and nothing else: host lists take it, and it is no option.
[[nodiscard]] bool is_host_name(const std::string& name);

}  // namespace fabricbench::cluster
