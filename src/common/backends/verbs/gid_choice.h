#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace fabricbench::verbs {

enum class GidType { kInfiniBand, kRoceV1, kRoceV2 };

/// An entry of a port's GID table that is in use.
struct Gid {
  int index = 0;
  GidType type = GidType::kRoceV2;
  std::array<std::uint8_t, 16> raw{};  ///< in network order, as ibv_gid has it

  /// ::ffff:a.b.c.d, the form of an IPv4 address.
  [[nodiscard]] bool is_ipv4() const;
  /// fe80::/64, and 169.254.0.0/16.
  [[nodiscard]] bool is_link_local() const;
};

/// The indices that two ends use, and why these.
struct GidPair {
  int first = 0;
  int second = 0;
  std::string description;  ///< such as `RoCE v2, IPv4, one subnet`
};

/// Chooses the GIDs of the two ends of a connection together: of the same type and family; RoCE v2 goes before RoCE v1,
/// IPv4 before IPv6, two of one subnet (IPv4: /24, IPv6: /64) before two of different ones, the lowest indices before
/// others. Link-local GIDs are never chosen, but on InfiniBand, whose GIDs are all of that kind by default.
/// Throws Error (missing) that lists what each end has where no two agree.
[[nodiscard]] GidPair choose_gids(const std::vector<Gid>& first, const std::vector<Gid>& second);

/// The same where -x names the index on both ends. Throws Error (missing) where an end has no such GID, or where the
/// two are of different types or families.
[[nodiscard]] GidPair check_gids(const std::vector<Gid>& first, const std::vector<Gid>& second, int index);

/// Such as `0: InfiniBand fe80::1`; an IPv4 one is written `3: RoCE v2 10.0.0.1`.
[[nodiscard]] std::string describe(const Gid& gid);

}  // namespace fabricbench::verbs
