#include "common/core/pairs.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/core/error.h"
#include "common/core/wording.h"

namespace fabricbench {
namespace {

constexpr std::size_t kMostNamed = 8;  // in one message
constexpr int kNobody = -1;
constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kOfLists = "0123456789-, ";
constexpr std::string_view kShift = "shift:";
constexpr std::string_view kManyToOne = "many-to-one";
constexpr std::string_view kOneToMany = "one-to-many";
constexpr std::string_view kBetweenWords = " \t\r\v\f,";

/// Splits `text` at any of the separators; blank words are dropped.
std::vector<std::string_view> words_of(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> words;
  for (std::size_t begin = text.find_first_not_of(separators); begin != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(separators, end);
  }
  return words;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of(kDigits) == std::string_view::npos;
}

/// Such as `a, b and c`; a long list is shortened. `names` is not empty.
std::string enumeration(std::vector<std::string> names) {
  if (names.size() > kMostNamed) {
    names.resize(kMostNamed);
    names.emplace_back("others");
  }
  return enumerated(std::move(names));
}

/// Such as `rank 3` or `ranks 1, 2 and 5 to 7`, of ascending ranks.
std::string ranks_text(const std::vector<int>& ranks) {
  std::vector<std::string> runs;
  for (std::size_t begin = 0; begin < ranks.size();) {
    std::size_t end = begin + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    const bool shortened = end - begin > 2;
    runs.push_back(shortened ? fmt::format("{} to {}", ranks[begin], ranks[end - 1]) : fmt::format("{}", ranks[begin]));
    begin = shortened ? end : begin + 1;
  }
  return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", enumeration(std::move(runs)));
}

std::string_view is_or_are(const std::vector<int>& ranks) { return ranks.size() == 1 ? "is" : "are"; }

/// A host and its ranks, ascending.
struct Host {
  std::string_view name;
  std::vector<int> ranks;
};

/// The hosts in the order of their first ranks.
std::vector<Host> group_by_host(const std::vector<std::string>& hosts) {
  std::vector<Host> groups;
  std::map<std::string_view, std::size_t> places;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    const auto [place, is_new] = places.try_emplace(hosts[rank], groups.size());
    if (is_new) groups.push_back({hosts[rank], {}});
    groups[place->second].ranks.push_back(static_cast<int>(rank));
  }
  return groups;
}

std::vector<int> left_out(const std::vector<Pair>& pairs, std::size_t ranks) {
  std::vector<bool> chosen(ranks, false);
  for (const auto& [first, second] : pairs) {
    chosen[static_cast<std::size_t>(first)] = true;
    chosen[static_cast<std::size_t>(second)] = true;
  }
  std::vector<int> others;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    if (!chosen[rank]) others.push_back(static_cast<int>(rank));
  }
  return others;
}

PairChoice choose_first_ranks(const std::vector<std::string>& hosts) {
  const std::vector<Host> groups = group_by_host(hosts);
  const bool one_host = groups.size() == 1;
  const Pair pair = {0, one_host ? 1 : groups[1].ranks.front()};
  PairChoice choice;
  choice.pairs = {pair};
  choice.rule =
      fmt::format("ranks {} and {}{}", pair.first, pair.second, one_host ? " of one host" : ", the first of two hosts");
  const std::vector<int> idle = left_out(choice.pairs, hosts.size());
  if (idle.empty()) return choice;
  std::string notice = fmt::format("{} {} idle", ranks_text(idle), is_or_are(idle));
  if (idle.size() > 1) {
    notice += fmt::format("; --pairs {} has more ranks work", one_host ? "adjacent" : "halves or hosts");
  }
  choice.notices.push_back(std::move(notice));
  return choice;
}

void note_odd_rank(PairChoice& choice, int ranks) {
  if (ranks % 2 == 0) return;
  choice.notices.push_back(fmt::format("rank {} has no partner among {} ranks and is left out", ranks - 1, ranks));
}

PairChoice choose_adjacent(int ranks) {
  PairChoice choice;
  choice.rule = "adjacent ranks";
  for (int rank = 0; rank + 1 < ranks; rank += 2) choice.pairs.push_back({rank, rank + 1});
  note_odd_rank(choice, ranks);
  return choice;
}

PairChoice choose_halves(int ranks) {
  const int half = ranks / 2;
  PairChoice choice;
  choice.rule = fmt::format("each rank r below {} with rank r + {}", half, half);
  for (int rank = 0; rank < half; ++rank) choice.pairs.push_back({rank, rank + half});
  note_odd_rank(choice, ranks);
  return choice;
}

PairChoice choose_hosts(const std::vector<std::string>& hosts) {
  const std::vector<Host> groups = group_by_host(hosts);
  if (groups.size() == 1) {
    throw UsageError(
        fmt::format("--pairs hosts: all {} ranks are on host {}; start some on another one, or write "
                    "--pairs adjacent",
                    hosts.size(), groups[0].name));
  }
  PairChoice choice;
  choice.rule = "hosts two by two, the k-th rank of one with the k-th of the other";
  std::vector<int> surplus;
  for (std::size_t host = 0; host + 1 < groups.size(); host += 2) {
    const std::vector<int>& first = groups[host].ranks;
    const std::vector<int>& second = groups[host + 1].ranks;
    const std::size_t both = std::min(first.size(), second.size());
    for (std::size_t k = 0; k < both; ++k) choice.pairs.push_back({first[k], second[k]});
    const std::vector<int>& longer = first.size() > both ? first : second;
    surplus.insert(surplus.end(), longer.begin() + static_cast<std::ptrdiff_t>(both), longer.end());
  }
  if (!surplus.empty()) {
    std::sort(surplus.begin(), surplus.end());
    choice.notices.push_back(fmt::format("{} {} left out: the host has more ranks than the one it is paired with",
                                         ranks_text(surplus), is_or_are(surplus)));
  }
  if (groups.size() % 2 == 1) {
    choice.notices.push_back(fmt::format("host {} has no partner among {} hosts and is left out: {}",
                                         groups.back().name, groups.size(), ranks_text(groups.back().ranks)));
  }
  return choice;
}

PairChoice choose_loopback(const std::vector<std::string>& hosts) {
  const std::vector<Host> groups = group_by_host(hosts);
  PairChoice choice;
  choice.rule = "each host with itself, its first rank with its second and so forth";
  std::vector<int> alone;
  std::vector<int> surplus;
  for (const auto& [name, ranks] : groups) {
    for (std::size_t k = 0; k + 1 < ranks.size(); k += 2) choice.pairs.push_back({ranks[k], ranks[k + 1]});
    if (ranks.size() % 2 == 1) (ranks.size() == 1 ? alone : surplus).push_back(ranks.back());
  }
  if (choice.pairs.empty()) {
    throw UsageError(
        fmt::format("--pairs loopback: none of the {} hosts has two ranks; start two ranks on each host, such as with "
                    "mpirun --map-by ppr:2:node",
                    groups.size()));
  }
  std::sort(surplus.begin(), surplus.end());
  if (!surplus.empty()) {
    choice.notices.push_back(
        fmt::format("{} {} left out: the host has an odd number of ranks", ranks_text(surplus), is_or_are(surplus)));
  }
  if (!alone.empty()) {
    choice.notices.push_back(fmt::format("{} {} left out, {}the only one of its host; start two ranks on each host",
                                         ranks_text(alone), is_or_are(alone), alone.size() == 1 ? "" : "each "));
  }
  return choice;
}

/// The argument of mpirun's -H that gives the first host enough ranks: `a:3,b,c,d`.
std::string launch_of_star(const std::vector<Host>& groups) {
  std::vector<std::string> slots = {fmt::format("{}:{}", groups.front().name, groups.size() - 1)};
  for (std::size_t host = 1; host < groups.size() && host < kMostNamed; ++host) slots.emplace_back(groups[host].name);
  if (groups.size() > kMostNamed) slots.emplace_back("...");
  return fmt::format("{}", fmt::join(slots, ","));
}

void check_star(std::string_view rule, const std::vector<Host>& groups) {
  const auto& [name, ranks] = groups.front();
  const std::size_t others = groups.size() - 1;
  if (others == 0) {
    throw UsageError(fmt::format(
        "--pairs {} needs two hosts or more, and all {} ranks are on host {}; start some on others, or write --pairs "
        "adjacent or all",
        rule, ranks.size(), name));
  }
  if (ranks.size() >= others) return;
  throw UsageError(fmt::format(
      "--pairs {}: host {} has {}, and needs a rank for each of the {} other hosts; start {} there, such as "
      "with mpirun -H {}",
      rule, name, ranks_text(ranks), others, others, launch_of_star(groups)));
}

/// Pairs each rank of the first host with the first rank of another host.
PairChoice choose_star(std::string_view rule, const std::vector<std::string>& hosts) {
  const std::vector<Host> groups = group_by_host(hosts);
  check_star(rule, groups);
  const bool from_one = rule == kOneToMany;
  const std::string_view one = groups.front().name;
  PairChoice choice;
  choice.rule = from_one ? fmt::format("from host {} to the first rank of each other host", one)
                         : fmt::format("from the first rank of each other host to host {}", one);
  for (std::size_t k = 0; k + 1 < groups.size(); ++k) {
    const int own = groups.front().ranks[k];
    const int other = groups[k + 1].ranks.front();
    choice.pairs.push_back(from_one ? Pair{own, other} : Pair{other, own});
  }
  if (const std::vector<int> others = left_out(choice.pairs, hosts.size()); !others.empty()) {
    choice.notices.push_back(fmt::format(
        "{} {} left out: only one rank of host {} is used for each other host, and only the first rank of those",
        ranks_text(others), is_or_are(others), one));
  }
  return choice;
}

PairChoice choose_all(int ranks) {
  PairChoice choice;
  choice.rule = "every two ranks once, the lower one first";
  for (int first = 0; first < ranks; ++first) {
    for (int second = first + 1; second < ranks; ++second) choice.pairs.push_back({first, second});
  }
  return choice;
}

PairChoice choose_shift(std::string_view distance, int ranks) {
  int shift = 0;
  const auto [end, problem] = std::from_chars(distance.data(), distance.data() + distance.size(), shift);
  if (problem != std::errc() || end != distance.data() + distance.size() || shift < 1 || shift >= ranks) {
    throw UsageError(fmt::format("--pairs {0}{1}: '{1}' is not a distance within {2} ranks; use {3}", kShift, distance,
                                 ranks,
                                 ranks == 2 ? "shift:1" : fmt::format("a whole number from 1 to {}", ranks - 1)));
  }
  PairChoice choice;
  choice.rule = fmt::format("each rank r with rank r + {} in blocks of {} ranks", shift, std::int64_t{2} * shift);
  for (int rank = 0; rank < ranks - shift; ++rank) {
    if (rank / shift % 2 == 0) choice.pairs.push_back({rank, rank + shift});
  }
  if (const std::vector<int> others = left_out(choice.pairs, static_cast<std::size_t>(ranks)); !others.empty()) {
    choice.notices.push_back(fmt::format("{} {} no partner {} ranks further and {} left out", ranks_text(others),
                                         others.size() == 1 ? "has" : "have", shift, is_or_are(others)));
  }
  return choice;
}

/// Pairs that the user lists one by one. `where` begins each message: the text of the option, or the line of the file.
class NamedPairs {
 public:
  explicit NamedPairs(const std::vector<std::string>& hosts) : partners_(hosts.size(), kNobody) {
    for (std::size_t rank = 0; rank < hosts.size(); ++rank) ranks_of_[hosts[rank]].push_back(static_cast<int>(rank));
  }

  void add(std::string_view first_name, std::string_view second_name, std::string_view where) {
    const int first = find(first_name, kNobody, where);
    const int second = find(second_name, first, where);
    if (first == second) throw UsageError(fmt::format("{}: both are rank {}; name two different ones", where, first));
    partner(first) = second;
    partner(second) = first;
    pairs_.push_back({first, second});
  }

  [[nodiscard]] bool empty() const { return pairs_.empty(); }

  [[nodiscard]] PairChoice choice() const {
    PairChoice choice;
    choice.pairs = pairs_;
    choice.rule = pairs_.size() == 1
                      ? fmt::format("ranks {} and {}, as --pairs says", pairs_[0].first, pairs_[0].second)
                      : fmt::format("the {} pairs that --pairs lists", pairs_.size());
    const std::vector<int> idle = left_out(pairs_, partners_.size());
    if (!idle.empty()) {
      choice.notices.push_back(fmt::format("{} {} in no pair and idle", ranks_text(idle), is_or_are(idle)));
    }
    return choice;
  }

 private:
  int& partner(int rank) { return partners_[static_cast<std::size_t>(rank)]; }

  /// The rank for a number or host name. `other` is the rank to pair it with, if that is known.
  int find(std::string_view name, int other, std::string_view where) {
    return is_number(name) ? find_rank(name, where) : find_on_host(name, other, where);
  }

  int find_rank(std::string_view number, std::string_view where) {
    const int ranks = static_cast<int>(partners_.size());
    int rank = 0;
    const auto [end, problem] = std::from_chars(number.data(), number.data() + number.size(), rank);
    if (problem != std::errc() || rank >= ranks) {
      throw UsageError(fmt::format("{}: there is no rank {}, the last one is {}", where, number, ranks - 1));
    }
    if (partner(rank) != kNobody) {
      throw UsageError(
          fmt::format("{}: rank {} is already paired with rank {}; name every rank once", where, rank, partner(rank)));
    }
    return rank;
  }

  int find_on_host(std::string_view host, int other, std::string_view where) {
    const auto found = ranks_of_.find(host);
    if (found == ranks_of_.end()) {
      std::vector<std::string> known;
      for (const auto& [name, ranks] : ranks_of_) known.emplace_back(name);
      throw UsageError(
          fmt::format("{}: the job has no host '{}'; it has {}", where, host, enumeration(std::move(known))));
    }
    const std::vector<int>& ranks = found->second;
    const auto free =
        std::find_if(ranks.begin(), ranks.end(), [&](int rank) { return rank != other && partner(rank) == kNobody; });
    if (free != ranks.end()) return *free;
    throw UsageError(fmt::format("{}: host {} has no rank left, only {}; name it less often, or start more ranks there",
                                 where, host, ranks_text(ranks)));
  }

  std::map<std::string_view, std::vector<int>> ranks_of_;  // by host
  std::vector<int> partners_;                              // by rank
  std::vector<Pair> pairs_;
};

PairChoice choose_listed(std::string_view list, const std::vector<std::string>& hosts) {
  NamedPairs named(hosts);
  for (const std::string_view item : words_of(list, ", ")) {
    const std::string where = fmt::format("--pairs {}", item);
    const std::size_t dash = std::min(item.find('-'), item.size());
    const std::string_view first = item.substr(0, dash);
    const std::string_view second = item.substr(std::min(dash + 1, item.size()));
    if (!is_number(first) || !is_number(second)) {
      throw UsageError(
          fmt::format("{} is not a pair of ranks; write one such as 0-1, or a list such as 0-4,7-1", where));
    }
    named.add(first, second, where);
  }
  if (named.empty())
    throw UsageError(fmt::format("--pairs '{}' has no pair; write one such as 0-1, or a list such as 0-4,7-1", list));
  return named.choice();
}

PairChoice choose_from_file(std::string_view name, const std::vector<std::string>& hosts, std::string_view text) {
  NamedPairs named(hosts);
  for (std::size_t begin = 0, line = 1; begin < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view content = text.substr(begin, end - begin);
    begin = end + 1;
    const std::vector<std::string_view> words = words_of(content.substr(0, content.find('#')), kBetweenWords);
    if (words.empty()) continue;
    const std::string where = fmt::format("--pairs {}, line {}", name, line);
    if (words.size() != 2) {
      throw UsageError(
          fmt::format("{}: '{}' is not a pair; write two rank numbers or host names with a blank or a comma between",
                      where, fmt::join(words, " ")));
    }
    named.add(words[0], words[1], where);
  }
  if (named.empty()) {
    throw UsageError(
        fmt::format("--pairs {}: the file has no pair; write two rank numbers or host names a line", name));
  }
  return named.choice();
}

bool is_word(std::string_view rule) {
  constexpr std::string_view kWords[] = {"adjacent", "halves", "hosts", "loopback", kManyToOne, kOneToMany, "all"};
  return std::find(std::begin(kWords), std::end(kWords), rule) != std::end(kWords) || rule.starts_with(kShift);
}

}  // namespace

PairChoice choose_pairs(std::string_view rule, const std::vector<std::string>& hosts, std::string_view file) {
  const int ranks = static_cast<int>(hosts.size());
  if (ranks < 2) {
    throw UsageError(fmt::format(
        "a pair needs two ranks, and the job has {}; start at least two, for instance with mpirun -np 2", ranks));
  }
  if (rule.empty()) return choose_first_ranks(hosts);
  if (rule == "adjacent") return choose_adjacent(ranks);
  if (rule == "halves") return choose_halves(ranks);
  if (rule == "hosts") return choose_hosts(hosts);
  if (rule == "loopback") return choose_loopback(hosts);
  if (rule == kManyToOne || rule == kOneToMany) return choose_star(rule, hosts);
  if (rule == "all") return choose_all(ranks);
  if (rule.starts_with(kShift)) return choose_shift(rule.substr(kShift.size()), ranks);
  return names_a_file(rule) ? choose_from_file(rule, hosts, file) : choose_listed(rule, hosts);
}

bool names_a_file(std::string_view rule) {
  return !is_word(rule) && rule.find_first_not_of(kOfLists) != std::string_view::npos;
}

}  // namespace fabricbench
