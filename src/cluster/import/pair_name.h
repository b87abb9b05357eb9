#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fabricbench::cluster {

/// Two hosts, as the name of a file tells them: the sender, or the client, first.
struct PairName {
  std::string from;
  std::string to;

  friend bool operator==(const PairName&, const PairName&) = default;
};

/// The NICs of the two hosts of a file, by its name or that of its folder; empty: not told.
struct PairRails {
  std::string from;
  std::string to;
};

/// How files are named, for messages.
inline constexpr const char* kHowToName = "name it HOSTA_HOSTB.log or HOSTA-to-HOSTB.log";

/// The hosts in the name of a file: FROM-to-TO, FROM_to_TO, FROM--TO, FROM__TO, FROM,TO, FROM_TO, and FROM-TO where it
/// could be nothing else. Programs' names around them are passed over, such as in osu_bw_n1_n2.log; so are a NIC, the
/// number of a run, and more before FROM_TO where both hosts differ in numbers only. Hosts with `-` or `_` in their
/// names, such as gpu-1-gpu-2, have to differ in numbers only. Nothing where it is not clear.
[[nodiscard]] std::optional<PairName> pair_in_name(std::string_view path);

/// The NICs in the name of a file, such as in n1_n2_mlx5_0.log, or of its folder, such as mlx5_0/n1_n2.log.
[[nodiscard]] PairRails rails_in_name(std::string_view path);

/// Whether a text may be a host's name or address.
[[nodiscard]] bool is_host_name(std::string_view text);

/// The first label of a host's name in the domain name system; an address as it is.
[[nodiscard]] std::string_view short_name(std::string_view host);

/// A name with each of its numbers replaced by `#`: those of hosts of one make are the same.
[[nodiscard]] std::string shape_of(std::string_view name);

}  // namespace fabricbench::cluster
