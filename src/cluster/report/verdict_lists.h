#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/readings.h"
#include "cluster/verdict.h"

namespace fabricbench::cluster {

/// What a verdict comes to for each host: every host of the sweep is in exactly one list, each in the order of people
/// (see comes_before). A host with several findings is in the first list that one of them puts it in.
struct HostLists {
  std::vector<std::string> dead;      ///< nothing can be measured with it
  std::vector<std::string> cut_off;   ///< works with some others, and with none of the rest
  std::vector<std::string> slow;      ///< as a whole, or a NIC of it
  std::vector<std::string> unsteady;  ///< slow now and then
  std::vector<std::string> suspect;   ///< it, or another one, or a path between them; more readings would tell
  std::vector<std::string> not_judged;
  std::vector<std::string> fine;  ///< a path between two of them may be slow nonetheless
};
[[nodiscard]] HostLists host_lists(const Sweep& sweep, const Verdict& verdict);

/// The lists that are not empty, with the titles that they are printed with, in their order: `Slow`.
[[nodiscard]] std::vector<std::pair<std::string_view, const std::vector<std::string>*>> titled(const HostLists& lists);

/// Paths between two hosts of which more readings would tell whether they are slow, and that no finding names; by
/// place in Sweep::hosts, each once.
[[nodiscard]] std::vector<std::pair<std::int32_t, std::int32_t>> suspect_paths(const Verdict& verdict);

/// The verdict in one sentence: `1 host is slow, 1 path is suspect; 63 of 64 hosts are fine`.
[[nodiscard]] std::string headline(const Sweep& sweep, const Verdict& verdict);

/// `1 host`, `2 hosts`.
[[nodiscard]] std::string counted(std::int64_t number, std::string_view thing);

/// A pair alone that is faster than this is disturbed by the others: below 0.97 of the rate alone.
inline constexpr double kMostAloneOverTogether = 1 / 0.97;
/// Whether pairs that are alone are so much faster than in a full round that they disturb each other, and not by
/// chance.
[[nodiscard]] bool is_oversubscribed(const Verdict& verdict);
/// The same of all pairs, or of those of different groups: of Verdict::alone or Verdict::alone_between.
[[nodiscard]] bool is_oversubscribed(const Verdict& verdict, const AloneOverTogether& alone);

}  // namespace fabricbench::cluster
