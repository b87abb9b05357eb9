// The program find_slow_links, as a function.
#pragma once

#include <string>

#include "cluster/pairs/verdict.h"
#include "common/core/error.h"

namespace fabricbench::cluster {

/// Judges the records of a sweep, and prints the verdict. Throws Error.
[[nodiscard]] ExitStatus find_slow_links(int argc, char** argv);

/// Sets one of the two expectations by a value of --expect; neither by an empty one. Throws UsageError.
void set_expected(const std::string& text, VerdictSettings& settings);

}  // namespace fabricbench::cluster
