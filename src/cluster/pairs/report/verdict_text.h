// A verdict in words for people, and in lists for scripts. Headings, sentences, lists and advice follow from the table
// of finding_kinds.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/pairs/readings.h"
#include "cluster/pairs/verdict.h"
#include "common/core/heat_map.h"

namespace fabricbench::cluster {

struct VerdictStyle {
  bool colour = false;  ///< colours of a terminal; they add nothing that words do not say
  bool map = false;     ///< with the heat map of up to 64 hosts
  bool all = false;     ///< every finding by itself, and every line; else alike ones are one, and there is a limit
};

/// The verdict for people: headline, findings, lists of hosts, what was measured, and what is open.
[[nodiscard]] std::string verdict_text(const Sweep& sweep, const Verdict& verdict, const VerdictSettings& settings,
                                       const VerdictStyle& style);

/// Only what a script takes: a line for each list of hosts, folded, such as `Slow: node[07,12]`, and for each path,
/// leaf and rail that is slow or suspect, such as `Slow path: node03 node08`. Every host of the sweep is in one of the
/// lists.
[[nodiscard]] std::string verdict_lines(const Sweep& sweep, const Verdict& verdict);

/// Of these the lines on findings, without suspect paths.
[[nodiscard]] std::string blamed_lines(const Sweep& sweep, const Verdict& verdict);

/// The verdict in one sentence: `1 host is slow, 1 path is suspect; 63 of 64 hosts are fine`.
[[nodiscard]] std::string headline(const Sweep& sweep, const Verdict& verdict);

[[nodiscard]] HostLists host_lists(const Sweep& sweep, const Verdict& verdict);

/// How a finding is reported.
[[nodiscard]] const FindingForm& form_of(const Sweep& sweep, const Verdict& verdict, const Finding& finding);

/// `2 hosts are slow`.
[[nodiscard]] std::string counted_being(std::size_t number, std::string_view noun, std::string_view adjective);

/// Findings of one kind that are reported as one, the worst first. They differ in hosts or in rails.
using Alike = std::vector<const Finding*>;
[[nodiscard]] bool differ_in_hosts(const Alike& alike);
/// Whether a finding is reported as one with a worse one: of one kind, direction and reason, with half of its deficit
/// or more. Undecided ones only need to have a figure, or none, as that one.
[[nodiscard]] bool is_alike(const Sweep& sweep, const Verdict& verdict, const Finding& worst, const Finding& finding);

/// Whom findings are about: folded hosts or paths.
[[nodiscard]] std::string subject_of(const Sweep& sweep, const Alike& alike);

/// What is to blame, in one sentence: `node07 is slow with all partners, sending and receiving`; of several findings:
/// `2 hosts are slow: node[07,12]`.
[[nodiscard]] std::string sentence(const Sweep& sweep, const Verdict& verdict, const Alike& alike);
[[nodiscard]] inline std::string sentence(const Sweep& sweep, const Verdict& verdict, const Finding& finding) {
  return sentence(sweep, verdict, Alike{&finding});
}

/// How bad: `6.05 GB/s where 12.10 are expected: 50 % of it`.
[[nodiscard]] std::string extent(const Sweep& sweep, const Alike& alike);

/// The evidence: `126 readings with 63 partners, 2 of them without a figure`.
[[nodiscard]] std::string evidence(const Finding& finding);

/// A false-alarm probability in words: `fewer than 1 of 1,000 sweeps of healthy hosts look like this`.
[[nodiscard]] std::string chance_in_words(double chance);

/// How sure: `fewer than 1 of 1,000 sweeps of healthy hosts look like this; seen again when measured alone`.
[[nodiscard]] std::string certainty(const Finding& finding);

/// The readings that would settle an open finding; empty: nothing is open.
[[nodiscard]] std::string open_follow_up(const Sweep& sweep, const Verdict& verdict, const Finding& finding);

/// A command that a person may run next, and what for. What comes from records is quoted for the shell.
struct NextCommand {
  std::string command;
  std::string purpose;
};
/// `fine`: hosts to measure the hosts of the finding with. There is no command for names that programs would not accept
/// as hosts, or without a second host to measure with.
[[nodiscard]] std::vector<NextCommand> next_commands(const Sweep& sweep, const Verdict& verdict, const Finding& finding,
                                                     std::span<const std::string> fine);

/// Whether all readings of a finding failed.
[[nodiscard]] inline bool has_no_figure(const Finding& finding) { return finding.failed > 0 && finding.rate <= 0; }

/// A rate of so many bytes per second in GB/s, with three digits or more: `12.10`.
[[nodiscard]] std::string rate_text(double rate);

/// A host's name for sentences: printable, on one line.
[[nodiscard]] std::string host_name(const Sweep& sweep, std::int32_t host);

/// A name for lists that scripts read: printable, with U+FFFD in the place of blanks, commas and brackets, which
/// separate names there. So every name of a record is one item of the list.
[[nodiscard]] std::string listed_name(std::string_view name);

/// Such names, folded: `node[01-08]`.
[[nodiscard]] std::string listed_names(std::span<const std::string> names);
[[nodiscard]] std::string hosts_text(const Sweep& sweep, std::span<const std::int32_t> hosts);

/// `rail mlx5_1`, `rails mlx5_[0-7]`, of places in Sweep::rails. Empty if there are none; -1 is none.
[[nodiscard]] std::string rails_text(const Sweep& sweep, std::vector<std::int32_t> rails);
template <typename Thing, typename Place>
[[nodiscard]] std::string rails_text(const Sweep& sweep, const std::vector<const Thing*>& things, Place Thing::*rail) {
  std::vector<std::int32_t> rails;
  rails.reserve(things.size());
  for (const Thing* thing : things) rails.push_back(thing->*rail);
  return rails_text(sweep, std::move(rails));
}

/// Paths, grouped by hosts that many of them share: `node10 - node[02,15]; node31 - node07`. `to`: from the first host
/// to the second.
[[nodiscard]] std::string paths_text(const Sweep& sweep, std::vector<std::array<std::int32_t, 2>> paths, bool to);

/// Findings as they are reported, those first that concern many hosts or are large (Finding::weight). Unless `fold`,
/// each by itself.
[[nodiscard]] std::vector<Alike> items_of(const Sweep& sweep, const Verdict& verdict, bool fold);

[[nodiscard]] bool has_host(const Group& group, std::int32_t host);

/// Whether a path takes the uplinks of a leaf.
[[nodiscard]] inline bool crosses(const Group& leaf, std::int32_t host, std::int32_t other) {
  return has_host(leaf, host) != has_host(leaf, other);
}

/// Whether a path takes the uplinks of a leaf with a finding, which explains it.
[[nodiscard]] bool is_of_slow_leaf(const Verdict& verdict, std::int32_t host, std::int32_t other);

/// Paths that may be slow, as more readings would tell, and that no finding names, nor a slow leaf explains: pairs of
/// places in Sweep::hosts, each once.
[[nodiscard]] std::vector<HostPair> suspect_paths(const Verdict& verdict);

/// A sweep as a picture of characters (common/core/heat_map.h): a line for each receiving host, a column for each
/// sending host, in the order and with the blocks and marks of map_layout. A cell is the rate as a share of the usual
/// rate of near hosts of the faster kind with the same test, message size and rails, so that groups and kinds show: the
/// median of repeated readings, and the lowest over rails and sizes. The usual rate is that of the test, size and rails
/// with most readings. For more than 64 hosts it is one line that says where else to look.
[[nodiscard]] std::string sweep_map(const Sweep& sweep, const Verdict& verdict, bool colour);

/// The order of hosts in a map, as places in Sweep::hosts. Hosts of a group of the coarsest level stand together, then
/// those of finer groups, then those of one kind; each has a block around it. Within these, hosts are in natural order,
/// those with a mark last. Marks are those of host_lists.
[[nodiscard]] HeatLayout map_layout(const Sweep& sweep, const Verdict& verdict);

}  // namespace fabricbench::cluster
