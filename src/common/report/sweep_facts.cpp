#include "common/report/sweep_facts.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

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

}  // namespace

SweepFacts sweep_facts(const Context& context) {
  SweepFacts facts;
  if (context.figure != Figure::kSweep) return facts;
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

Level paired(const Context& context) {
  if (context.options.level != Level::kAuto) return context.options.level;
  return ranks_by_host(context).size() == context.ranks.size() ? Level::kHost : Level::kRank;
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

}  // namespace fabricbench
