#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "cluster/run/expectation.h"
#include "cluster/run/preset.h"
#include "common/core/options.h"
#include "common/report/sink.h"

namespace fabricbench::expected {

/// Holds a run against what its links allow (--expect) and against published figures (--preset). Without these options
/// it warns of figures above what the links allow.
class ExpectationSink final : public Sink {
 public:
  /// Reads the preset. Throws Error as find_preset and read_preset do.
  explicit ExpectationSink(const Options& options);

  void begin(const Context& context) override { context_ = context; }
  void record(const AnyRecord& record) override;
  /// Changes the exit status of a run that ended well to that of the expectation, or of a strict preset.
  void conclude(Ending& ending, const Outputs& outputs) override;
  void end(const Ending& /*ending*/) override {}

 private:
  void keep(MeasuredRow row);
  void hold_against_links(Ending& ending, const Outputs& outputs) const;
  void hold_against_preset(Ending& ending, const Outputs& outputs) const;

  ExpectationSettings settings_;
  std::optional<Preset> preset_;
  bool strict_ = false;
  Context context_;
  std::vector<MeasuredRow> rows_;
  std::map<std::pair<baseline::RowKey, int>, std::size_t> place_of_;  // in rows_, by group too
  baseline::DeviceBytes bytes_;
};

}  // namespace fabricbench::expected
