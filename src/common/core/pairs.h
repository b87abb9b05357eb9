#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fabricbench {

/// Two ranks of the job that exchange messages. In one-way traffic the first one sends.
struct Pair {
  int first = 0;
  int second = 0;
};

/// The pairs, and what the user should know about their choice.
struct PairChoice {
  std::vector<Pair> pairs;           ///< disjoint, except with `all`
  std::string rule;                  ///< one clause that describes the choice: `ranks 0 and 4, the first of two hosts`
  std::vector<std::string> notices;  ///< about ranks that were left out
};

/// Reads `--pairs`, for ranks whose hosts are `hosts`, by rank; hosts follow each other as their first ranks do:
/// - empty: one pair, the first rank of the first host and the first rank of the next one; on one host, ranks 0 and 1;
/// - `adjacent`: 0 with 1, 2 with 3, and so on;
/// - `halves`: rank r with r + N/2, as osu_mbw_mr pairs them; of an odd number the last one is left out;
/// - `hosts`: the first host with the second, the third with the fourth, k-th rank of one with k-th of the other;
/// - `loopback`: each host with itself: its first rank with its second, the third with the fourth, and so on;
/// - `many-to-one`: the first rank of each host but the first one sends to a rank of the first host, each to another;
/// - `one-to-many`: the same, and the first host sends;
/// - `all`: every two ranks, the lower one first, ordered by it;
/// - `shift:K`: in each block of 2K ranks, rank r of its first half with r + K; `shift:1` is `adjacent`;
/// - `0-4,7-1`: these ranks;
/// - anything else is the name of a file; `file` is what stands in it: a pair of rank numbers or of host names a line,
///   with blanks or a comma between, comments after `#`. A host name stands for its first rank that no pair has yet.
/// Ranks that find no partner are left out with a notice. Throws UsageError: one rank alone, a rank that does not
/// exist or is named twice or with itself, a host that is not there or has no rank left, a line that is no pair, a file
/// without a pair, `hosts` where there is one, `loopback` where no host has two ranks, `many-to-one` and `one-to-many`
/// where there is one host or the first one has fewer ranks than there are others, a K below 1 or above the last rank.
[[nodiscard]] PairChoice choose_pairs(std::string_view rule, const std::vector<std::string>& hosts,
                                      std::string_view file = "");

/// Whether the rule is a file name, so that choose_pairs needs the file's text. A rule of only digits, dashes, commas
/// and blanks is a list of pairs, perhaps a wrong one; a file with such a name is written `./12`.
[[nodiscard]] bool names_a_file(std::string_view rule);

}  // namespace fabricbench
