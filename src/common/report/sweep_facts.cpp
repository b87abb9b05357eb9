#include "common/report/sweep_facts.h"

#include <algorithm>
#include <array>
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

std::optional<std::uint64_t> wrong_elements(const PairReading& reading, const SweepFacts& facts) {
  const bool arrived = reading.status == ReadingStatus::kOk || reading.status == ReadingStatus::kWrong;
  return facts.checked && arrived ? std::optional(reading.wrong) : std::nullopt;
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

std::string_view name(ReadingStatus status) {
  constexpr std::array<std::string_view, 4> kNames = {"ok", "wrong", "timeout", "not_tried"};
  return kNames[static_cast<std::size_t>(status)];
}

}  // namespace fabricbench
