// A run held against the launches of a baseline: whether they are comparable, how each row turned out, and how readers
// are told.
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

/// Lines without line ends: what was compared, a table of the rows, differences, and last the headline.
/// `name`: of the baseline.
[[nodiscard]] std::vector<std::string> lines_of(const BaselineComparison& comparison, const std::string& name);

/// Such as `float sum out`.
[[nodiscard]] std::string words_of(const RowKey& key);
/// Such as `8 B float sum out`.
[[nodiscard]] std::string size_and_words_of(const RowKey& key);

}  // namespace fabricbench::baseline
