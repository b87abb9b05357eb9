#include "cluster/run/expectation_sink.h"

#include "cluster/run/launch_recorder.h"
#include "common/core/error.h"
#include "common/core/wording.h"
#include "common/host/files.h"

namespace fabricbench::expected {
namespace {

constexpr double kBytesPerGigabit = 1e9 / 8;

void fail(Ending& ending, int status, const std::string& reason) {
  if (ending.exit_status != 0 || status == 0) return;
  ending.exit_status = status;
  ending.reason = reason;
}

void append(std::vector<std::string>& lines, std::vector<std::string> more) {
  for (std::string& line : more) lines.push_back(std::move(line));
}

}  // namespace

ExpectationSink::ExpectationSink(const Options& options)
    : settings_{options.expected_percent / 100, options.line_rate_gbit_per_s * kBytesPerGigabit},
      strict_(options.strict) {
  if (!options.preset.empty())
    preset_ = read_preset(find_preset(options.preset, host::installed_folders("results/presets")));
}

void ExpectationSink::record(const AnyRecord& record) {
  const Row* row = record.as<Row>();
  if (row == nullptr) return;
  baseline::for_each_measurement(*row, context_, [&](baseline::RowKey key, const Measurement& measured) {
    keep({.key = std::move(key),
          .group = row->group,
          .busbw = measured.busbw,
          .time = measured.summary.median,
          .operations = static_cast<double>(measured.iterations.value_or(0)),
          .processor_wait = measured.processor_wait});
    baseline::count_bytes(measured.nics, bytes_);
  });
}

/// Of the runs that -N repeats the best figure counts, so that a run without end takes no more memory than one.
void ExpectationSink::keep(MeasuredRow row) {
  const auto [known, is_new] = place_of_.try_emplace({row.key, row.group}, rows_.size());
  if (is_new) return rows_.push_back(std::move(row));
  MeasuredRow& best = rows_[known->second];
  const double operations = best.operations + row.operations;
  if (row.busbw > best.busbw) best = std::move(row);
  best.operations = operations;
}

void ExpectationSink::conclude(Ending& ending, const Outputs& outputs) {
  hold_against_links(ending, outputs);
  if (preset_) hold_against_preset(ending, outputs);
}

void ExpectationSink::hold_against_links(Ending& ending, const Outputs& outputs) const {
  const Expectation expectation = expect(context_, rows_, bytes_, settings_);
  append(ending.notes, warnings_of(expectation));
  if (settings_.required <= 0 && expectation.payload <= 0) return;
  for (const RowExpectation& row : expectation.rows) outputs.record(row);
  outputs.record(expectation);
  append(ending.baseline, lines_of(expectation));
  fail(ending, expectation.exit_status, expectation.headline);
}

void ExpectationSink::hold_against_preset(Ending& ending, const Outputs& outputs) const {
  const std::vector<PresetComparison> figures = compare(*preset_, context_, rows_);
  for (const PresetComparison& figure : figures) outputs.record(figure);
  PresetOutcome outcome = outcome_of(*preset_, context_, figures);
  append(ending.baseline, std::move(outcome.lines));
  if (!strict_) return;
  if (const double waited = most_waited(rows_); waited > 0) {
    return fail(ending, static_cast<int>(ExitStatus::kNotJudged), waited_text(waited));
  }
  fail(ending, outcome.exit_status, outcome.headline);
}

}  // namespace fabricbench::expected
