// A run held against the launches of a baseline: whether they are comparable, and how each row turned out.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cluster/run/judgement.h"
#include "common/record/baseline.h"

namespace fabricbench::baseline {

struct ComparisonSettings {
  JudgementSettings judgement;
  std::vector<std::string> allowed;  ///< keys that may differ
};

/// `fresh`: launches of one run, at least one. A launch that is given twice counts once. Throws UsageError if `allowed`
/// has a key that no launch has.
[[nodiscard]] BaselineComparison compare(std::span<const Launch> recorded, std::span<const Launch> fresh,
                                         const ComparisonSettings& settings);

}  // namespace fabricbench::baseline
