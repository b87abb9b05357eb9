// Launches from files: baselines, what programs write with --json, and logs of other tools.
#pragma once

#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "common/record/baseline.h"

namespace fabricbench::cluster {

/// The launches in a file, at least one. Throws Error: kMissing if it cannot be read, kNotJudged if it is damaged, was
/// written by another program, or has a run that failed or never ended.
[[nodiscard]] std::vector<baseline::Launch> launches_in(const std::string& path);

/// The launches in a log of nccl-tests, rccl-tests, the OSU micro-benchmarks or perftest, as many as it has runs; none
/// where a text is none of these. Their identity is what the log tells: program, version, ranks, hosts, GPUs, devices.
/// `written`: when the file was, which stands for the beginning of the launches. Throws Error (kNotJudged) if a run
/// failed, has wrong data, or did not end.
[[nodiscard]] std::vector<baseline::Launch> launches_in_log(std::string_view text, const std::string& name,
                                                            std::time_t written);

}  // namespace fabricbench::cluster
