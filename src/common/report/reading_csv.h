#pragma once

#include <string>

#include "common/report/reading.h"
#include "common/report/sweep_facts.h"

namespace fabricbench {

/// The header of --csv where rows are readings of a sweep, and the line of one.
[[nodiscard]] std::string reading_csv_header();
[[nodiscard]] std::string reading_csv_line(const PairReading& reading, const SweepFacts& facts);

}  // namespace fabricbench
