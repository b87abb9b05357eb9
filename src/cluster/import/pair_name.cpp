#include "cluster/import/pair_name.h"

#include <algorithm>
#include <array>
#include <vector>

#include "cluster/import/text.h"

namespace fabricbench::cluster {
namespace {

constexpr std::size_t kLongestHost = 255;
constexpr std::string_view kSeparators = "-_.";
constexpr std::array<std::string_view, 5> kExtensions = {".log", ".txt", ".out", ".err", ".json"};
/// Names of programs that people put before or behind the hosts, longer ones before what they begin with.
constexpr std::array<std::string_view, 22> kPrograms = {
    "osu_bibw",       "osu_bw",        "osu",         "ib_write_bw",   "ib_read_bw",          "ib_send_bw",
    "perftest",       "iperf3",        "iperf",       "sendrecv_perf", "all_reduce_perf",     "all_gather_perf",
    "broadcast_perf", "alltoall_perf", "gather_perf", "scatter_perf",  "reduce_scatter_perf", "reduce_perf",
    "hypercube_perf", "nccl-tests",    "nccl_tests",  "nccl"};

bool is_letter(char letter) { return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z'); }
bool is_separator(char letter) { return kSeparators.find(letter) != std::string_view::npos; }

std::string_view stem_of(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);  // npos + 1 is 0
  for (bool cut = true; cut;) {
    cut = false;
    for (const std::string_view extension : kExtensions) {
      if (!path.ends_with(extension)) continue;
      path.remove_suffix(extension.size());
      cut = true;
    }
  }
  return path;
}

/// Without programs' names before and behind it, and what is behind the latter.
std::string_view without_programs(std::string_view stem) {
  for (const std::string_view program : kPrograms) {
    if (stem.size() > program.size() && stem.starts_with(program) && is_separator(stem[program.size()])) {
      return without_programs(stem.substr(program.size() + 1));
    }
  }
  for (const std::string_view program : kPrograms) {
    const std::size_t at = stem.find(program);
    if (at == std::string_view::npos || at < 2 || !is_separator(stem[at - 1])) continue;
    const std::size_t end = at + program.size();
    if (end == stem.size() || is_separator(stem[end])) return stem.substr(0, at - 1);
  }
  return stem;
}

std::vector<std::string_view> parts_of(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  for (std::size_t end = text.find(separator); end != std::string_view::npos; end = text.find(separator)) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + separator.size());
  }
  parts.push_back(text);
  return parts;
}

/// Hosts of one make: alike but for numbers, and no mere numbers.
bool are_alike(std::string_view a, std::string_view b) {
  return a != b && std::any_of(a.begin(), a.end(), is_letter) && shape_of(a) == shape_of(b);
}

std::optional<PairName> pair_of(std::string_view from, std::string_view to) {
  if (!is_host_name(from) || !is_host_name(to)) return std::nullopt;
  return PairName{std::string(from), std::string(to)};
}

/// Splits a text with several separators in the middle, if both halves are names of hosts.
std::optional<PairName> halves_of(std::string_view text, std::size_t parts, char separator) {
  if (parts % 2 != 0) return std::nullopt;
  std::size_t at = 0;
  for (std::size_t i = 0; i < parts / 2; ++i) at = text.find(separator, at) + 1;
  const std::string_view from = text.substr(0, at - 1);
  const std::string_view to = text.substr(at);
  return are_alike(from, to) ? pair_of(from, to) : std::nullopt;
}

std::optional<PairName> pair_with_underscore(std::string_view text) {
  const auto parts = parts_of(text, "_");
  if (parts.size() == 2) return pair_of(parts[0], parts[1]);
  if (auto halves = halves_of(text, parts.size(), '_')) return halves;
  const std::string_view to = parts.back();
  const std::string_view from = parts[parts.size() - 2];
  const bool more_hosts = parts.size() > 2 && are_alike(parts[parts.size() - 3], to);
  return are_alike(from, to) && !more_hosts ? pair_of(from, to) : std::nullopt;
}

}  // namespace

bool is_host_name(std::string_view text) {
  const auto may_be_in_it = [](char letter) {
    return is_letter(letter) || is_digit(letter) || is_separator(letter) || letter == ':' || letter == '@';
  };
  const auto counts = [](char letter) { return is_letter(letter) || is_digit(letter); };
  return text.size() <= kLongestHost && std::all_of(text.begin(), text.end(), may_be_in_it) &&
         std::any_of(text.begin(), text.end(), counts) && text.front() != '-';
}

std::string shape_of(std::string_view name) {
  std::string shape;
  for (const char letter : name) {
    if (!is_digit(letter)) shape += letter;
    if (is_digit(letter) && !shape.ends_with('#')) shape += '#';
  }
  return shape;
}

std::optional<PairName> pair_in_name(std::string_view path) {
  const std::string_view stem = without_programs(stem_of(path));
  for (const std::string_view separator : {"-to-", "_to_", ".to.", "--", "__", ","}) {
    const auto parts = parts_of(stem, separator);
    if (parts.size() == 2) return pair_of(parts[0], parts[1]);
    if (parts.size() > 2) return std::nullopt;
  }
  if (stem.find('_') != std::string_view::npos) return pair_with_underscore(stem);
  const auto parts = parts_of(stem, "-");
  if (parts.size() == 2) return pair_of(parts[0], parts[1]);
  return halves_of(stem, parts.size(), '-');
}

}  // namespace fabricbench::cluster
