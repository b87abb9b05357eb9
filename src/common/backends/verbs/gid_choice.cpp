#include "common/backends/verbs/gid_choice.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include "common/core/error.h"

namespace fabricbench::verbs {
namespace {

using Raw = std::array<std::uint8_t, 16>;

const char* name(GidType type) {
  switch (type) {
    case GidType::kInfiniBand: return "InfiniBand";
    case GidType::kRoceV1: return "RoCE v1";
    case GidType::kRoceV2: return "RoCE v2";
    case GidType::kOther: return "unspecified link layer";
  }
  return "unknown";
}

const char* family(const Gid& gid) { return gid.is_ipv4() ? "IPv4" : "IPv6"; }

bool begins_alike(const Raw& first, const Raw& second, std::size_t bytes) {
  return std::equal(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(bytes), second.begin());
}

// The table has no prefix lengths, so the usual ones are assumed. An InfiniBand subnet's prefix always has 64 bits.
bool of_one_subnet(const Gid& first, const Gid& second) {
  return begins_alike(first.raw, second.raw, first.is_ipv4() ? 12 + 3 : 8);
}

bool agree(const Gid& first, const Gid& second) {
  return first.type == second.type && first.is_ipv4() == second.is_ipv4();
}

bool is_roce(const Gid& gid) { return gid.type == GidType::kRoceV1 || gid.type == GidType::kRoceV2; }

bool may_be_chosen(const Gid& gid) { return !is_roce(gid) || !gid.is_link_local(); }

// Lower is better.
auto order_of(const Gid& first, const Gid& second) {
  const int type = first.type == GidType::kRoceV1 ? 1 : 0;  // an end has either InfiniBand GIDs or RoCE ones
  return std::make_tuple(type, !first.is_ipv4(), !of_one_subnet(first, second), first.index + second.index,
                         first.index);
}

GidPair pair_of(const Gid& first, const Gid& second) {
  const char* const subnets = of_one_subnet(first, second) ? "one subnet" : "different subnets";
  if (!is_roce(first)) return {first.index, second.index, fmt::format("{}, {}", name(first.type), subnets)};
  return {first.index, second.index, fmt::format("{}, {}, {}", name(first.type), family(first), subnets)};
}

std::string listed(const std::vector<Gid>& gids) {
  std::string text;
  for (const Gid& gid : gids) {
    text += (text.empty() ? "" : ", ") + describe(gid) + (may_be_chosen(gid) ? "" : " (link-local)");
  }
  return text.empty() ? "none" : text;
}

const Gid& gid_at(const std::vector<Gid>& gids, int index, const char* end) {
  const auto found = std::find_if(gids.begin(), gids.end(), [&](const Gid& gid) { return gid.index == index; });
  if (found != gids.end()) return *found;
  throw Error(
      ExitStatus::kMissing,
      fmt::format("-x {}: the {} end's port has no GID of this index; name one that both ends have, or leave -x "
                  "out. It has: {}",
                  index, end, listed(gids)));
}

}  // namespace

bool Gid::is_ipv4() const {
  constexpr Raw kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return begins_alike(raw, kMapped, 12);
}

bool Gid::is_link_local() const {
  if (is_ipv4()) return raw[12] == 169 && raw[13] == 254;
  constexpr Raw kLinkLocal = {0xfe, 0x80};
  return begins_alike(raw, kLinkLocal, 8);
}

std::string describe(const Gid& gid) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int kind = gid.is_ipv4() ? AF_INET : AF_INET6;
  inet_ntop(kind, gid.raw.data() + (gid.is_ipv4() ? 12 : 0), text.data(), text.size());
  return fmt::format("{}: {} {}", gid.index, name(gid.type), text.data());
}

GidPair choose_gids(const std::vector<Gid>& first, const std::vector<Gid>& second) {
  std::optional<GidPair> best;
  std::optional<decltype(order_of(Gid{}, Gid{}))> best_order;
  for (const Gid& one : first) {
    for (const Gid& other : second) {
      if (!agree(one, other) || !may_be_chosen(one) || !may_be_chosen(other)) continue;
      const auto order = order_of(one, other);
      if (best_order && *best_order <= order) continue;
      best = pair_of(one, other);
      best_order = order;
    }
  }
  if (best) return *best;
  throw Error(ExitStatus::kMissing,
              fmt::format("the two ends' ports have no GIDs of the same type and family beyond link-local ones; "
                          "give both network interfaces an IPv4 address (ip addr add), choose other ports with -d and "
                          "-i, or name an index with -x. The first end has: {}. The second end has: {}",
                          listed(first), listed(second)));
}

GidPair check_gids(const std::vector<Gid>& first, const std::vector<Gid>& second, int index) {
  const Gid& one = gid_at(first, index, "first");
  const Gid& other = gid_at(second, index, "second");
  if (agree(one, other)) return pair_of(one, other);
  throw Error(ExitStatus::kMissing,
              fmt::format("-x {}: the two ends' GIDs of this index are of different types; name another, or leave "
                          "-x out, and both ends choose together. The first end has: {}. The second end has: {}",
                          index, listed(first), listed(second)));
}

}  // namespace fabricbench::verbs
