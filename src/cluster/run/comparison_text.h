// A run beside a baseline, for readers.
#pragma once

#include <string>
#include <vector>

#include "common/record/baseline.h"

namespace fabricbench::baseline {

/// Lines without line ends: what was compared, a table of the rows, differences, and last the headline.
/// `name`: of the baseline.
[[nodiscard]] std::vector<std::string> lines_of(const BaselineComparison& comparison, const std::string& name);

/// Such as `float sum out`.
[[nodiscard]] std::string words_of(const RowKey& key);
/// Such as `8 B float sum out`.
[[nodiscard]] std::string size_and_words_of(const RowKey& key);

}  // namespace fabricbench::baseline
