#pragma once

#include <string>

#include "cluster/readings.h"
#include "cluster/verdict.h"

namespace fabricbench::cluster {

struct VerdictStyle {
  bool colour = false;  ///< colours of a terminal; they add nothing that words do not say
  bool map = false;     ///< with the heat map of up to 64 hosts
  bool all = false;     ///< every finding by itself, and every line; else alike ones are one, and there is a limit
};

/// The verdict for people: headline, findings, lists of hosts, what was measured, and what is open.
[[nodiscard]] std::string verdict_text(const Sweep& sweep, const Verdict& verdict, const VerdictSettings& settings,
                                       const VerdictStyle& style);

/// Only what a script takes: a line for each list of hosts, folded, such as `Slow: node[07,12]`, and for each path,
/// leaf and rail that is slow or suspect, such as `Slow path: node03 node08`. Every host of the sweep is in one of the
/// lists.
[[nodiscard]] std::string verdict_lines(const Sweep& sweep, const Verdict& verdict);

}  // namespace fabricbench::cluster
