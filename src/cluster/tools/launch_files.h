// Launches from files: baselines, what programs write with --json, and logs of other tools.
#pragma once

#include <string>
#include <vector>

#include "common/record/baseline.h"

namespace fabricbench::cluster {

/// The launches in a file, at least one. Throws Error: kMissing if it cannot be read, kNotJudged if it is damaged, was
/// written by another program, or has a run that failed or never ended.
[[nodiscard]] std::vector<baseline::Launch> launches_in(const std::string& path);

}  // namespace fabricbench::cluster
