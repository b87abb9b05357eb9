// What `ibnetdiscover` and `ibnetdiscover -p` print, as a fabric.
#pragma once

#include <string_view>

#include "cluster/fabric/fabric.h"

namespace fabricbench::fabric {

/// Reads either form. Ports to which nothing is connected are left out. Nodes that appear only as the other end of a
/// cable are there too. `file` names the text in messages. Throws Error: `FILE:LINE: what`.
/// Source: ibnetdiscover(8), and its out_switch_port(), out_ca_port() and dump_ports_report().
[[nodiscard]] Fabric read_discovered(std::string_view text, std::string_view file);

}  // namespace fabricbench::fabric
