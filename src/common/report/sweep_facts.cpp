#include "common/report/sweep_facts.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "common/core/statistics.h"

namespace fabricbench {
namespace {

std::map<std::string, int> ranks_by_host(const Context& context) {
  std::map<std::string, int> ranks;
  for (const RankFacts& rank : context.ranks) ++ranks[rank.host];
  return ranks;
}

std::string rail_of(const RankFacts& rank) {
  return rank.gpu ? fmt::format("gpu{}", rank.gpu->device) : fmt::format("rank{}", rank.local_rank);
}

ReadingEnd end_of(const SweepFacts::Place& place) {
  ReadingEnd end;
  end.rank = place.rank;
  end.host = place.host;
  end.rail = place.rail;
  end.gpu = place.gpu;
  end.gpu_uuid = place.gpu_uuid;
  return end;
}

/// Adds the number of failed readings to `failed`.
EndpointSummary::Direction summarized(const std::vector<float>& bandwidths, std::int64_t& failed) {
  EndpointSummary::Direction direction;
  std::vector<double> figures;
  figures.reserve(bandwidths.size());
  for (std::size_t partner = 0; partner < bandwidths.size(); ++partner) {
    const double bandwidth = bandwidths[partner];
    if (std::isnan(bandwidth)) continue;
    if (bandwidth <= 0) {
      ++failed;
      continue;
    }
    if (figures.empty() || bandwidth < direction.least) {
      direction.least = bandwidth;
      direction.least_partner = static_cast<int>(partner);
    }
    figures.push_back(bandwidth);
  }
  direction.readings = static_cast<std::int64_t>(figures.size());
  if (!figures.empty()) direction.median = median(figures);
  return direction;
}

}  // namespace

SweepFacts sweep_facts(const Context& context) {
  SweepFacts facts;
  if (context.row_kind != RowKind::kSweep) return facts;
  facts.checked = context.options.checks > 0;
  facts.test = context.program;
  facts.endpoints.reserve(context.ranks.size());
  const std::map<std::string, int> ranks = ranks_by_host(context);
  for (const RankFacts& rank : context.ranks) {
    facts.endpoints.push_back({rank.rank, rank.host, ranks.at(rank.host) == 1 ? "" : rail_of(rank),
                               rank.gpu ? rank.gpu->pci : "", rank.gpu ? rank.gpu->uuid : ""});
  }
  return facts;
}

void add_facts(PairReading& reading, const SweepFacts& facts) {
  reading.test = facts.test;
  reading.from_end = end_of(facts.endpoints[static_cast<std::size_t>(reading.from)]);
  reading.to_end = end_of(facts.endpoints[static_cast<std::size_t>(reading.to)]);
  const bool arrived = reading.status == ReadingStatus::kOk || reading.status == ReadingStatus::kWrong;
  if (!facts.checked || !arrived) reading.wrong.reset();
}

void add_facts(EndpointSummary& summary, const SweepFacts& facts) {
  const SweepFacts::Place& place = facts.endpoints[static_cast<std::size_t>(summary.endpoint)];
  summary.rank = place.rank;
  summary.host = place.host;
  for (EndpointSummary::Direction* direction : {&summary.sent, &summary.received}) {
    if (!direction->least_partner) continue;
    const SweepFacts::Place& partner = facts.endpoints[static_cast<std::size_t>(*direction->least_partner)];
    direction->least_partner_rank = partner.rank;
    direction->least_partner_host = partner.host;
  }
}

std::vector<std::string> hosts_of(const std::vector<int>& endpoints, const SweepFacts& facts) {
  std::vector<std::string> hosts;
  hosts.reserve(endpoints.size());
  for (const int endpoint : endpoints) hosts.push_back(facts.endpoints[static_cast<std::size_t>(endpoint)].host);
  return hosts;
}

SweepPlanFacts plan_facts(const Context& context) {
  return {static_cast<std::int64_t>(context.ranks.size()),
          paired(context),
          context.options.schedule,
          context.rounds,
          most_at_once(context),
          context.options.sizes.max_bytes,
          context.options.window};
}

EndpointLevel paired(const Context& context) {
  if (context.options.level != EndpointLevel::kAuto) return context.options.level;
  return ranks_by_host(context).size() == context.ranks.size() ? EndpointLevel::kHost : EndpointLevel::kRank;
}

std::vector<std::string> endpoint_names(const Context& context) {
  const std::map<std::string, int> ranks = ranks_by_host(context);
  std::vector<std::string> names;
  names.reserve(context.ranks.size());
  for (const RankFacts& rank : context.ranks) {
    names.push_back(ranks.at(rank.host) == 1 ? rank.host : fmt::format("{}:r{}", rank.host, rank.rank));
  }
  return names;
}

std::int64_t most_at_once(const Context& context) {
  const auto endpoints = static_cast<std::int64_t>(context.ranks.size());
  const std::int64_t all = context.options.schedule == ScheduleKind::kShift ? endpoints : endpoints / 2;
  return context.options.concurrent > 0 ? std::min(context.options.concurrent, all) : all;
}

EndpointStatistics::EndpointStatistics(int endpoints)
    : sent_(static_cast<std::size_t>(endpoints), std::numeric_limits<float>::quiet_NaN()), received_(sent_) {}

EndpointSummary EndpointStatistics::summary(int endpoint) const {
  EndpointSummary summary;
  summary.endpoint = endpoint;
  summary.sent = summarized(sent_, summary.failed);
  summary.received = summarized(received_, summary.failed);
  if (!latencies_.empty()) summary.latency = median(latencies_);
  return summary;
}

void RunningMedian::add(double value) {
  constexpr double kBinRatio = 1.001;
  Bin& bin = bins_[static_cast<int>(std::floor(std::log(value) / std::log(kBinRatio)))];
  ++bin.values;
  bin.sum += value;
  ++values_;
}

double RunningMedian::median() const {
  if (values_ == 0) return 0;
  return (value_at((values_ - 1) / 2) + value_at(values_ / 2)) / 2;
}

/// The value at a place in ascending order, from 0; approximate if other values are close.
double RunningMedian::value_at(std::int64_t place) const {
  std::int64_t before = 0;
  for (const auto& [number, bin] : bins_) {
    before += bin.values;
    if (place < before) return bin.sum / static_cast<double>(bin.values);
  }
  return 0;
}

}  // namespace fabricbench
