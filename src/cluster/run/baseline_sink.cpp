#include "cluster/run/baseline_sink.h"

#include <array>

#include <fmt/format.h>

#include "cluster/run/comparison.h"
#include "cluster/run/file.h"
#include "common/core/error.h"
#include "common/core/wording.h"

namespace fabricbench::baseline {
namespace {

void fail(Ending& ending, ExitStatus status, std::string reason) {
  if (ending.exit_status != 0) return;
  ending.exit_status = static_cast<int>(status);
  ending.reason = std::move(reason);
}

}  // namespace

BaselineSink::BaselineSink(const ComparisonOptions& options)
    : record_file_(options.record_file), baseline_file_(options.baseline_file) {
  settings_.judgement.wanted = options.wanted_slowdown_percent / 100;
  settings_.allowed = options.allowed;
  if (!baseline_file_.empty()) recorded_ = read_baseline(baseline_file_);
  if (!record_file_.empty()) check_writable(record_file_);
}

void BaselineSink::record(const AnyRecord& record) {
  if (const Row* row = record.as<Row>()) recorder_.take(*row);
  if (const PairReading* reading = record.as<PairReading>()) recorder_.take(*reading);
  if (const CopyRow* row = record.as<CopyRow>()) recorder_.take(*row);
  if (const ConnectRow* row = record.as<ConnectRow>()) {
    for (const ConnectTimes& step : row->steps) recorder_.take(row->pair, step);
  }
}

void BaselineSink::conclude(Ending& ending, const Outputs& outputs) {
  const bool ended_well = ending.exit_status == 0;
  const Launch launch = recorder_.finish();
  try {
    const bool fast_enough = baseline_file_.empty() || compare(launch, ending, outputs);
    if (record_file_.empty()) return;
    if (ended_well && fast_enough && !launch.rows.empty()) return add(launch, ending);
    ending.baseline.push_back(fmt::format("Not recorded in {}: {}", record_file_,
                                          !ended_well ? "the run failed"
                                          : !fast_enough
                                              ? "it is slower than the baseline; --record without --baseline adds it"
                                              : "the run has no figure"));
  } catch (const Error& error) {
    fail(ending, error.status(), error.what());
  }
}

bool BaselineSink::compare(const Launch& launch, Ending& ending, const Outputs& outputs) const {
  const BaselineComparison comparison = baseline::compare(recorded_, std::array{launch}, settings_);
  for (const RowComparison& row : comparison.rows) outputs.record(row);
  for (const HistoryChange& change : comparison.changes) outputs.record(change);
  outputs.record(comparison);
  ending.baseline = lines_of(comparison, baseline_file_);
  if (comparison.exit_status == 0) return true;
  fail(ending, static_cast<ExitStatus>(comparison.exit_status), comparison.headline);
  return comparison.exit_status != static_cast<int>(ExitStatus::kTooSlow);
}

void BaselineSink::add(const Launch& launch, Ending& ending) const {
  const std::size_t launches = add_launch(record_file_, launch);
  const double waited = most_waited(launch);
  ending.baseline.push_back(fmt::format("Recorded in {}: launch {}{}", record_file_, launches,
                                        waited > 0 ? ", with which nothing is compared: " + waited_text(waited) : ""));
}

}  // namespace fabricbench::baseline
