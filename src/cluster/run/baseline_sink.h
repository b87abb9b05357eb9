#pragma once

#include <string>
#include <vector>

#include "cluster/run/comparison.h"
#include "cluster/run/launch_recorder.h"
#include "common/core/options.h"
#include "common/report/sink.h"

namespace fabricbench::baseline {

/// Adds a run to a baseline (--record), and compares it with one (--baseline).
class BaselineSink final : public Sink {
 public:
  /// Reads the baselines. Throws Error as read_baseline and check_writable do.
  explicit BaselineSink(const ComparisonOptions& options);

  void begin(const Context& context) override { recorder_.begin(context); }
  void record(const AnyRecord& record) override;
  /// Changes the exit status of a run that ended well to that of the comparison.
  void conclude(Ending& ending, const Outputs& outputs) override;
  void end(const Ending& /*ending*/) override {}

 private:
  /// Whether the run is as fast as the baseline.
  [[nodiscard]] bool compare(const Launch& launch, Ending& ending, const Outputs& outputs) const;
  void add(const Launch& launch, Ending& ending) const;

  std::string record_file_;
  std::string baseline_file_;
  ComparisonSettings settings_;
  std::vector<Launch> recorded_;
  LaunchRecorder recorder_;
};

}  // namespace fabricbench::baseline
