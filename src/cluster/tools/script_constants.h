#pragma once

#include <string>

namespace fabricbench::cluster {

/// scripts/constants.sh: the constants that the scripts share with the programs, for bash.
[[nodiscard]] std::string constants_for_bash();

/// scripts/constants.py: the same for Python.
[[nodiscard]] std::string constants_for_python();

}  // namespace fabricbench::cluster
