#include "cluster/command/record_file.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "common/core/plain_text.h"
#include "common/core/version.h"

namespace fabricbench::cluster {
namespace {

void require(std::string_view what, int number, std::size_t count) {
  if (number >= 0 && static_cast<std::size_t>(number) < count) return;
  throw std::invalid_argument(fmt::format("{} {} does not exist; the context has {}", what, number, count));
}

/// An unknown one is empty.
void check_host(std::string_view name) {
  const std::string fault = name.empty() ? "" : fault_of_host_name(name);
  if (!fault.empty()) throw std::invalid_argument(fmt::format("'{}' is no host: it {}", printable(name), fault));
}

/// `node01, node02 and 3 others`, of which no single name is to be told.
void check_list_of_hosts(std::string text) {
  const std::string listed = text;
  std::replace_if(
      text.begin(), text.end(), [](char each) { return each == ',' || each == ' '; }, '.');
  if (text.empty() || fault_of_host_name(text.substr(0, kLongestHostName)).empty()) return;
  throw std::invalid_argument(fmt::format("'{}' is no list of hosts", printable(listed)));
}

void check_nics(const std::optional<Measurement>& measured) {
  if (!measured) return;
  for (const NicBytes& nic : measured->nics) check_host(nic.host);
}

}  // namespace

std::string why_unreadable(const ContextVersion& context) {
  if (context.schema_version < 1) return "the context has no schema_version";
  if (context.schema_version <= kSchemaVersion) return "";
  return fmt::format("schema_version is {}, and this program reads up to {}", context.schema_version, kSchemaVersion);
}

void check_hosts(const Context& context) {
  for (const RankFacts& rank : context.ranks) check_host(rank.host);
  for (const HostFacts& host : context.host_facts) check_host(host.name);
  for (const GroupFacts& group : context.groups) check_list_of_hosts(group.hosts);
}

void check_hosts(const Row& row) {
  check_nics(row.out_of_place);
  check_nics(row.in_place);
}

void check_hosts(const CopyRow& row) { check_host(row.host); }

void check_hosts(const PairReading& reading) {
  check_host(reading.from_end.host);
  check_host(reading.to_end.host);
}

RecordNumbers::RecordNumbers(const Context& context)
    : row_kind_(context.row_kind), groups_(context.groups.size()), endpoints_(context.ranks.size()) {
  if (row_kind_ == RowKind::kSweep) return;  // whose ranks are in no group
  for (const RankFacts& rank : context.ranks) require_group(rank.group);
}

void RecordNumbers::check(const Row& row) const {
  require_group(row.group);
  if (row.skipped.empty() && is_of_pairs(row_kind_) && !row.out_of_place) {
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
