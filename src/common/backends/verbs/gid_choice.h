#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace fabricbench::verbs {

/// kOther: of a port whose link layer is unspecified, as EFA's.
enum class GidType { kInfiniBand, kRoceV1, kRoceV2, kOther };

/// A used entry of a port's GID table.
struct Gid {
  int index = 0;
  GidType type = GidType::kRoceV2;
  std::array<std::uint8_t, 16> raw{};  ///< in network byte order, as in ibv_gid

  /// Whether it has the form of an IPv4 address, ::ffff:a.b.c.d.
  [[nodiscard]] bool is_ipv4() const;
  /// Whether it is in fe80::/64 or 169.254.0.0/16.
  [[nodiscard]] bool is_link_local() const;
};

/// The indices that the two ends use, with the reason.
struct GidPair {
  int first = 0;
  int second = 0;
  std::string description;  ///< such as `RoCE v2, IPv4, one subnet`
};

/// Chooses the GIDs of both ends of a connection together. Both are of the same type and family. RoCE v2 is preferred
/// over RoCE v1, IPv4 over IPv6, the same subnet (IPv4: /24, IPv6: /64) over different ones, and low indices over high
/// ones. Link-local GIDs are never chosen, except on InfiniBand, where all GIDs are link-local by default. Throws Error
/// (missing) that lists both ends' GIDs if no two match.
[[nodiscard]] GidPair choose_gids(const std::vector<Gid>& first, const std::vector<Gid>& second);

/// The same with the index of -x on both ends. Throws Error (missing) if an end has no such GID, or if the two differ
/// in type or family.
[[nodiscard]] GidPair check_gids(const std::vector<Gid>& first, const std::vector<Gid>& second, int index);

/// Such as `0: InfiniBand fe80::1`; IPv4 is written `3: RoCE v2 10.0.0.1`.
[[nodiscard]] std::string describe(const Gid& gid);

}  // namespace fabricbench::verbs
