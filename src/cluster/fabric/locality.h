// Which leaf each host is on, for sweeps: from Slurm's topology or from a fabric.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "cluster/fabric/fabric.h"
#include "cluster/fabric/shape.h"

namespace fabricbench::fabric {

/// Leaf by host.
using Locality = std::map<std::string, std::string>;

/// Whether a text begins as Slurm's topology.conf does.
[[nodiscard]] bool is_of_slurm(std::string_view text);

/// The lowest switches of Slurm's topology.conf (topology/tree); comments and continued lines as Slurm reads them.
/// `file` names the text in messages. Throws Error: `FILE:LINE: what`. Source: topology.conf(5).
[[nodiscard]] Locality read_slurm_topology(std::string_view text, std::string_view file);

/// The leaf that most cables of a host lead to, the first by name of equals. In a rail-aligned fabric hosts of one unit
/// share all of their leaves: the unit bears the name of the first of them.
[[nodiscard]] Locality locality_of(const Fabric& fabric, const Shape& shape);

/// Lines `HOST LEAF`, as --locality reads them: hosts in natural order, blanks and `#` in names of leaves replaced.
[[nodiscard]] std::string text_of(const Locality& locality);

}  // namespace fabricbench::fabric
