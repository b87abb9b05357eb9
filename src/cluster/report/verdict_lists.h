#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/readings.h"
#include "cluster/verdict.h"

namespace fabricbench::cluster {

/// The verdict by host. Every host of the sweep is in exactly one list, in natural order (see comes_before). A host
/// with several findings is in the first list that applies.
struct HostLists {
  std::vector<std::string> dead;        ///< nothing can be measured with it
  std::vector<std::string> cut_off;     ///< works with some hosts, and not with the rest
  std::vector<std::string> wrong_data;  ///< its data arrive wrong
  std::vector<std::string> slow;        ///< the host, or one of its NICs
  std::vector<std::string> unsteady;    ///< slow now and then
  /// The host, another one, or the path between them may be slow; more readings would tell.
  std::vector<std::string> suspect;
  std::vector<std::string> not_judged;
  std::vector<std::string> fine;  ///< a path between two of them may be slow nonetheless
};
[[nodiscard]] HostLists host_lists(const Sweep& sweep, const Verdict& verdict);

/// The lists that are not empty, with the titles that they are printed with, in their order: `Slow`.
[[nodiscard]] std::vector<std::pair<std::string_view, const std::vector<std::string>*>> titled(const HostLists& lists);

/// Paths that may be slow, or dead, as more readings would tell, between hosts that are no suspects: pairs of places in
/// Sweep::hosts, each once.
[[nodiscard]] std::vector<std::pair<std::int32_t, std::int32_t>> suspect_paths(const Verdict& verdict);

/// The verdict in one sentence: `1 host is slow, 1 path is suspect; 63 of 64 hosts are fine`.
[[nodiscard]] std::string headline(const Sweep& sweep, const Verdict& verdict);

/// `1 host`, `2 hosts`.
[[nodiscard]] std::string counted(std::int64_t number, std::string_view thing);

}  // namespace fabricbench::cluster
