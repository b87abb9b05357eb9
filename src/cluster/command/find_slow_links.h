// The program find_slow_links, as a function.
#pragma once

#include "common/core/error.h"

namespace fabricbench::cluster {

/// Judges the records of a sweep, and prints the verdict. Throws Error.
[[nodiscard]] ExitStatus find_slow_links(int argc, char** argv);

}  // namespace fabricbench::cluster
