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

void Outputs::remember(const AnyRecord& record) const {
  if (const auto* epoch = record.as<EpochRecord>()) state_->interim.add(*epoch);
  if (const auto* row = record.as<Row>()) state_->interim.remove(*row);
  if (record.as<CopyRow>() != nullptr) state_->interim.keep({});
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
  std::exception_ptr problem;
  for (const auto& sink : sinks_) {
    try {
      for (const Row& row : rows) sink->record(row);
      for (const CopyRow& copy : copies) sink->record(copy);
      sink->abandon(ending);
    } catch (const std::exception&) {
      if (!problem) problem = std::current_exception();
    }
  }
  if (problem) std::rethrow_exception(problem);
  return !sinks_.empty();
}

}  // namespace fabricbench
