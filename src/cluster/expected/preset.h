// Published figures, and a run beside them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cluster/expected/measured_row.h"
#include "common/record/context.h"
#include "common/record/expected.h"

namespace fabricbench::expected {

struct Preset {
  PresetStart start;
  std::vector<PresetFigure> figures;
};

/// The file of `preset`: a path, or the name of one of the presets that come with the suite, in `folders`. Throws Error
/// (kMissing) with the names that exist.
[[nodiscard]] std::filesystem::path find_preset(const std::string& preset,
                                                const std::vector<std::filesystem::path>& folders);

/// Throws Error: kMissing if it cannot be read, kNotJudged with the line if it is damaged or of a later version.
[[nodiscard]] Preset read_preset(const std::filesystem::path& file);

/// Each figure for this program, its GPUs, hosts and ranks, beside the row with the highest bandwidth (or the shortest
/// time) among the sizes of the figure.
[[nodiscard]] std::vector<PresetComparison> compare(const Preset& preset, const Context& context,
                                                    const std::vector<MeasuredRow>& rows);

/// The outcome of all figures.
struct PresetOutcome {
  int exit_status = 0;             ///< 6 below, 7 nothing to compare, or not measured
  std::string headline;            ///< one sentence
  std::vector<std::string> lines;  ///< one per figure, and the headline
};
[[nodiscard]] PresetOutcome outcome_of(const Preset& preset, const Context& context,
                                       const std::vector<PresetComparison>& figures);

}  // namespace fabricbench::expected
