#include "common/report/sink.h"

#include <chrono>
#include <exception>

#include "common/core/error.h"

namespace fabricbench {

Outputs& Outputs::operator=(Outputs&& other) noexcept {
  const std::lock_guard lock(state_->mutex);
  if (!state_->ended.test()) sinks_ = std::move(other.sinks_);
  return *this;
}

void Outputs::begin(const Context& context) const {
  const std::lock_guard lock(state_->mutex);
  if (state_->ended.test()) return;
  state_->interim.begin(context.figure);
  state_->sweep.begin(context);
  for (const auto& sink : sinks_) sink->begin(context);
}

void Outputs::record(const AnyRecord& record) const {
  const std::lock_guard lock(state_->mutex);
  if (state_->ended.test()) return;
  for (const auto& sink : sinks_) sink->record(record);
  remember(record);
}

void Outputs::keep(std::vector<CopyRow> copies) const {
  const std::lock_guard lock(state_->mutex);
  state_->interim.keep(std::move(copies));
}

void Outputs::keep(const EpochRecord& estimate) const {
  const std::lock_guard lock(state_->mutex);
  state_->interim.estimate(estimate);
}

void Outputs::remember(const AnyRecord& record) const {
  if (const auto* epoch = record.as<EpochRecord>()) state_->interim.add(*epoch);
  if (const auto* row = record.as<Row>()) state_->interim.remove(*row);
  if (record.as<CopyRow>() != nullptr) state_->interim.keep({});
  if (const auto* reading = record.as<PairReading>()) state_->sweep.add(*reading);
  if (const auto* summary = record.as<EndpointSummary>()) state_->sweep.remove(*summary);
  if (const auto* row = record.as<MatrixRow>()) state_->sweep.remove(*row);
}

void Outputs::end(const Ending& ending) const {
  const std::lock_guard lock(state_->mutex);
  if (state_->ended.test_and_set()) return;
  std::exception_ptr problem;
  Ending failed;
  for (const auto& sink : sinks_) {
    try {
      problem ? sink->abandon(failed) : sink->end(ending);
    } catch (const std::exception& error) {
      if (problem) continue;
      problem = std::current_exception();
      failed.exit_status = static_cast<int>(status_of(error));
      failed.reason = error.what();
    }
  }
  if (problem) std::rethrow_exception(problem);
}

bool Outputs::abandon(const Ending& ending) const {
  constexpr std::chrono::seconds kPatience{2};
  const std::unique_lock lock(state_->mutex, kPatience);
  if (state_->ended.test_and_set()) return false;
  const std::vector<Row> rows = state_->interim.rows();
  const std::vector<CopyRow> copies = state_->interim.copies();
  const std::vector<EndpointSummary> summaries = state_->sweep.summaries();
  const std::vector<MatrixRow> matrix = state_->sweep.matrix();
  std::exception_ptr problem;
  for (const auto& sink : sinks_) {
    try {
      for (const Row& row : rows) sink->record(row);
      for (const CopyRow& copy : copies) sink->record(copy);
      for (const EndpointSummary& summary : summaries) sink->record(summary);
      for (const MatrixRow& row : matrix) sink->record(row);
      sink->abandon(ending);
    } catch (const std::exception&) {
      if (!problem) problem = std::current_exception();
    }
  }
  if (problem) std::rethrow_exception(problem);
  return !sinks_.empty();
}

}  // namespace fabricbench
