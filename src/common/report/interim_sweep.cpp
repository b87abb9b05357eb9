#include "common/report/interim_sweep.h"

namespace fabricbench {

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

}  // namespace fabricbench
