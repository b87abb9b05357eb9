// The verdict as lists: of hosts, and of findings that belong together.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/readings.h"
#include "cluster/verdict.h"

namespace fabricbench::cluster {

/// A host's name for sentences: printable, on one line.
[[nodiscard]] std::string host_name(const Sweep& sweep, std::int32_t host);

/// A name for lists that scripts read: printable, with U+FFFD in the place of blanks, commas and brackets, which
/// separate names there. So every name of a record is one item of the list.
[[nodiscard]] std::string listed_name(std::string_view name);

/// Such names, folded: `node[01-08]`.
[[nodiscard]] std::string listed_names(std::span<const std::string> names);

/// Names of hosts, given by their places in Sweep::hosts, folded: `node[01-08]`.
[[nodiscard]] std::string hosts_text(const Sweep& sweep, std::span<const std::int32_t> hosts);

/// Paths, grouped by hosts that many of them share: `node10 - node[02,15]; node31 - node07`. `to`: from the first host
/// to the second.
[[nodiscard]] std::string paths_text(const Sweep& sweep, std::vector<std::array<std::int32_t, 2>> paths, bool to);

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

/// Findings that are reported as one.
struct Item {
  std::vector<const Finding*> alike;   ///< of one kind and direction, with similar deficits; the worst first
  std::vector<const Finding*> within;  ///< of a slow leaf: findings on its hosts and paths
  std::size_t suspects = 0;            ///< of a slow leaf: suspect paths to other leaves
};
/// All findings, those first that concern many hosts or are large (Finding::weight). Unless `fold`, each by itself.
[[nodiscard]] std::vector<Item> items_of(const Sweep& sweep, const Verdict& verdict, bool fold);

/// Whether a path takes the uplinks of a leaf with a finding, which explains it.
[[nodiscard]] bool is_of_slow_leaf(const Verdict& verdict, std::int32_t host, std::int32_t other);

/// Paths that may be slow, as more readings would tell, and that no finding names, nor a slow leaf explains: pairs of
/// places in Sweep::hosts, each once.
[[nodiscard]] std::vector<std::pair<std::int32_t, std::int32_t>> suspect_paths(const Verdict& verdict);

/// The verdict in one sentence: `1 host is slow, 1 path is suspect; 63 of 64 hosts are fine`.
[[nodiscard]] std::string headline(const Sweep& sweep, const Verdict& verdict);

}  // namespace fabricbench::cluster
