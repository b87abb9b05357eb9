#include "cluster/tools/record_numbers.h"

#include <stdexcept>

#include <fmt/format.h>

namespace fabricbench::cluster {
namespace {

void require(std::string_view what, int number, std::size_t count) {
  if (number >= 0 && static_cast<std::size_t>(number) < count) return;
  throw std::invalid_argument(fmt::format("{} {} does not exist; the context has {}", what, number, count));
}

}  // namespace

RecordNumbers::RecordNumbers(const Context& context)
    : figure_(context.figure), groups_(context.groups.size()), endpoints_(context.ranks.size()) {
  if (figure_ == Figure::kSweep) return;  // whose ranks are in no group
  for (const RankFacts& rank : context.ranks) require_group(rank.group);
}

void RecordNumbers::check(const Row& row) const {
  require_group(row.group);
  if (row.skipped.empty() && is_of_pairs(figure_) && !row.out_of_place) {
    throw std::invalid_argument("the row has no figures, and no reason why it was skipped");
  }
}

void RecordNumbers::check(const EpochRecord& epoch) const { require_group(epoch.group); }

void RecordNumbers::check(const ConnectRow& row) const { require_group(row.pair); }

void RecordNumbers::check(const PairReading& reading) const {
  require_endpoint(reading.from);
  require_endpoint(reading.to);
}

void RecordNumbers::check(const EndpointSummary& summary) const {
  require_endpoint(summary.endpoint);
  for (const EndpointSummary::Direction* direction : {&summary.sent, &summary.received}) {
    if (direction->least_partner) require_endpoint(*direction->least_partner);
  }
}

void RecordNumbers::require_group(int group) const { require("group", group, groups_); }

void RecordNumbers::require_endpoint(int endpoint) const { require("endpoint", endpoint, endpoints_); }

}  // namespace fabricbench::cluster
