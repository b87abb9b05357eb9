// Published figures, and a run beside them.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "common/core/units.h"
#include "common/record/baseline.h"
#include "common/record/context.h"
#include "common/record/expected.h"

namespace fabricbench::expected {

/// A row of a run, as expectations and presets take it: of several runs (-N) the best one.
struct MeasuredRow {
  baseline::RowKey key{};
  int group = 0;
  double busbw = 0;           ///< bytes per second
  Seconds time = 0;           ///< median
  double operations = 0;      ///< timed ones of all runs, for which bytes were counted
  double processor_wait = 0;  ///< as Measurement has it
};

/// The largest share of the time for which ranks waited for a processor in one of the rows.
[[nodiscard]] inline double most_waited(const std::vector<MeasuredRow>& rows) {
  double most = 0;
  for (const MeasuredRow& row : rows) most = std::max(most, row.processor_wait);
  return most;
}

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
