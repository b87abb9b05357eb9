#include "common/report/sink.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <exception>
#include <map>
#include <tuple>

#include "common/core/error.h"
#include "common/core/statistics.h"

namespace fabricbench {
namespace {

/// The facts of a case, which an epoch and its row share.
template <typename Record>
auto case_of(const Record& record) {
  return std::tuple(record.datatype, record.reduction, record.root, record.size, record.count, record.group);
}

/// The facts by which cases are measured together.
template <typename Record>
auto combination_of(const Record& record) {
  return std::tuple(record.datatype, record.reduction, record.root);
}

/// Of at least one epoch of one case and placement.
Measurement measurement_of(const std::vector<EpochRecord>& records, bool of_windows) {
  std::vector<Epoch> epochs;
  for (const EpochRecord& record : records) {
    Epoch& epoch = epochs.emplace_back();
    epoch.samples = {record.median};
    epoch.late = record.late;
    epoch.began = static_cast<Seconds>(epochs.size());  // one after the other
  }
  Measurement measured;
  measured.summary = summarize(epochs);
  const bool is_estimate = records.front().samples == 0;
  if (is_estimate) measured.summary.epochs = measured.summary.samples = 0;
  measured.summary.preemptions.reset();  // which epochs do not tell
  measured.summary.most_preempted_rank.reset();
  const EpochRecord& first = records.front();
  const double scale = measured.summary.median > 0 ? first.median / measured.summary.median : 0;
  measured.algbw = first.algbw * scale;
  measured.busbw = first.busbw * scale;
  if (of_windows && first.size > 0) measured.message_rate = measured.algbw / static_cast<double>(first.size);
  return measured;
}

}  // namespace

void InterimRows::remove(const Row& row) {
  for (std::vector<EpochRecord>* const records : {&epochs_, &estimates_}) {
    std::erase_if(*records, [&](const EpochRecord& record) { return case_of(record) == case_of(row); });
  }
}

std::vector<CopyRow> InterimRows::copies() const {
  std::vector<CopyRow> copies = copies_;
  for (CopyRow& copy : copies) copy.cut_short = true;
  return copies;
}

std::vector<Row> InterimRows::rows() const {
  using Combination = decltype(combination_of(EpochRecord()));
  using Key = std::tuple<std::size_t, Bytes, int, std::uint64_t>;
  std::vector<Combination> combinations;
  std::map<Key, std::map<bool, std::vector<EpochRecord>>> cases;
  const auto records_of = [&](const EpochRecord& record) -> std::vector<EpochRecord>& {
    const auto known = std::find(combinations.begin(), combinations.end(), combination_of(record));
    const auto place = static_cast<std::size_t>(known - combinations.begin());
    if (known == combinations.end()) combinations.push_back(combination_of(record));
    return cases[{place, record.size, record.group, record.count}][record.in_place];
  };
  for (const EpochRecord& epoch : epochs_) records_of(epoch).push_back(epoch);
  for (const EpochRecord& estimate : estimates_) {
    if (std::vector<EpochRecord>& known = records_of(estimate); known.empty()) known.push_back(estimate);
  }
  std::vector<Row> rows;
  for (const auto& [key, placements] : cases) {
    const EpochRecord& first = placements.begin()->second.front();
    Row& row = rows.emplace_back();
    row.size = first.size;
    row.count = first.count;
    row.datatype = first.datatype;
    row.reduction = first.reduction;
    row.root = first.root;
    row.group = first.group;
    row.finished = std::time(nullptr);
    row.cut_short = true;
    for (const auto& [in_place, epochs] : placements) {
      (in_place ? row.in_place : row.out_of_place) = measurement_of(epochs, of_windows_);
    }
  }
  return rows;
}

void InterimSweep::begin(const Context& context) {
  *this = {};
  facts_ = sweep_facts(context);
  const std::size_t count = facts_.endpoints.size();
  if (count > kMostEndpoints) return;
  endpoints_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) endpoints_.push_back({EndpointStatistics(static_cast<int>(count))});
}

void InterimSweep::add(const PairReading& reading) {
  Endpoint* from = find(reading.from);
  Endpoint* to = find(reading.to);
  if (from == nullptr || to == nullptr) return;
  has_readings_ = true;
  const double bandwidth = reading.status == ReadingStatus::kOk ? reading.bandwidth : 0;
  from->statistics.note_sent(reading.to, bandwidth);
  to->statistics.note_received(reading.from, bandwidth);
  if (reading.latency) to->statistics.note_latency(*reading.latency);
}

void InterimSweep::remove(const EndpointSummary& summary) {
  if (Endpoint* endpoint = find(summary.endpoint)) endpoint->has_summary = true;
}

void InterimSweep::remove(const MatrixRow& row) {
  if (Endpoint* endpoint = find(row.receiver)) endpoint->has_row = true;
}

std::vector<EndpointSummary> InterimSweep::summaries() const {
  std::vector<EndpointSummary> summaries;
  for (std::size_t i = 0; i < endpoints_.size(); ++i) {
    if (endpoints_[i].has_summary) continue;
    EndpointSummary summary = endpoints_[i].statistics.summary(static_cast<int>(i));
    if (summary.sent.readings + summary.received.readings + summary.failed == 0) continue;
    summary.cut_short = true;
    add_facts(summary, facts_);
    summaries.push_back(summary);
  }
  return summaries;
}

std::vector<MatrixRow> InterimSweep::matrix() const {
  std::vector<MatrixRow> rows;
  if (!has_readings_) return rows;
  rows.reserve(endpoints_.size());
  for (std::size_t i = 0; i < endpoints_.size(); ++i) {
    if (!endpoints_[i].has_row) rows.push_back({static_cast<int>(i), endpoints_[i].statistics.received()});
  }
  return rows;
}

InterimSweep::Endpoint* InterimSweep::find(int endpoint) {
  const auto place = static_cast<std::size_t>(endpoint);
  return place < endpoints_.size() ? &endpoints_[place] : nullptr;
}

Outputs& Outputs::operator=(Outputs&& other) noexcept {
  const std::lock_guard lock(state_->mutex);
  if (!state_->ended.test()) sinks_ = std::move(other.sinks_);
  return *this;
}

void Outputs::begin(const Context& context) const {
  const std::lock_guard lock(state_->mutex);
  if (state_->ended.test()) return;
  state_->interim.begin(context.row_kind);
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
