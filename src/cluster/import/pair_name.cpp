#include "cluster/import/pair_name.h"

#include <algorithm>
#include <array>
#include <vector>

#include "cluster/import/text.h"

namespace fabricbench::cluster {
namespace {

constexpr std::size_t kLongestHost = 255;
constexpr std::string_view kSeparators = "-_.";
constexpr std::array<std::string_view, 7> kExtensions = {".log", ".txt", ".out", ".err", ".json", ".stdout", ".stderr"};
/// Names of programs that people put before or behind the hosts, longer ones before what they begin with.
constexpr std::array<std::string_view, 30> kPrograms = {"osu_put_bibw",    "osu_put_bw",     "osu_get_bw",
                                                        "osu_bibw",        "osu_bw",         "osu",
                                                        "ib_write_bw",     "ib_read_bw",     "ib_send_bw",
                                                        "perftest",        "iperf3",         "iperf2",
                                                        "iperf",           "sendrecv_perf",  "all_reduce_perf",
                                                        "all_gather_perf", "broadcast_perf", "alltoall_perf",
                                                        "gather_perf",     "scatter_perf",   "reduce_scatter_perf",
                                                        "reduce_perf",     "hypercube_perf", "nccl-tests",
                                                        "nccl_tests",      "nccl",           "imb",
                                                        "server",          "client",         "from"};
/// Beginnings of the names of NICs that are no names of hosts, before a number.
constexpr std::array<std::string_view, 16> kDevices = {"mlx4_",  "mlx5_", "bnxt_re", "irdma", "hfi1_", "qedr",
                                                       "cxgb4_", "efa_",  "rocep",   "rdmap", "hns_",  "bond",
                                                       "ens",    "enp",   "eth",     "rail"};

bool is_letter(char letter) { return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z'); }
bool is_separator(char letter) { return kSeparators.find(letter) != std::string_view::npos; }

std::string_view stem_of(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);  // npos + 1 is 0
  for (bool cut = true; cut;) {
    cut = false;
    for (const std::string_view extension : kExtensions) {
      if (!lower(path).ends_with(extension)) continue;
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

constexpr std::ptrdiff_t kDotsOfAddress = 3;

/// Hosts of one make: alike but for numbers, and no mere numbers but addresses.
bool are_alike(std::string_view a, std::string_view b) {
  const bool is_name = std::ranges::any_of(a, is_letter) || std::ranges::count(a, '.') == kDotsOfAddress;
  return is_name && a != b && shape_of(a) == shape_of(b);
}

/// A name without the number of a run behind it, such as `.1`, in which no name of a host ends.
std::string_view without_number(std::string_view host) {
  const std::size_t dot = host.rfind('.');
  const bool number = dot != std::string_view::npos && dot + 1 < host.size() &&
                      std::all_of(host.begin() + static_cast<std::ptrdiff_t>(dot) + 1, host.end(), is_digit);
  const bool may_have_one = std::ranges::any_of(host, is_letter) || std::ranges::count(host, '.') > kDotsOfAddress;
  return number && may_have_one ? host.substr(0, dot) : host;
}

/// The first host without what stands before it in a name such as `run1-node01_node02`: the part that is like `to`.
std::string_view without_prefix(std::string_view from, std::string_view to) {
  for (std::size_t at = 1; at < from.size() && !are_alike(from, to); ++at) {
    if (is_separator(from[at - 1]) && are_alike(from.substr(at), to)) return from.substr(at);
  }
  return from;
}

std::optional<PairName> pair_of(std::string_view from, std::string_view to) {
  to = without_number(to);
  from = without_prefix(without_number(from), to);
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

std::optional<PairName> pair_in_stem(std::string_view stem) {
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

/// `mlx5_0`, `mlx5_bond_0`, `enp3s0f0`: a known beginning, and letters and digits.
bool is_device(std::string_view name) {
  const auto* const device =
      std::ranges::find_if(kDevices, [&](std::string_view beginning) { return name.starts_with(beginning); });
  if (device == kDevices.end()) return false;
  name.remove_prefix(device->size());
  constexpr std::string_view kBond = "bond_";
  if (name.starts_with(kBond)) name.remove_prefix(kBond.size());
  return std::ranges::any_of(name, is_digit) &&
         std::ranges::all_of(name, [](char letter) { return is_letter(letter) || is_digit(letter); });
}

/// The NIC at the end of a text, behind a separator; empty where there is none.
std::string_view device_at_end(std::string_view text) {
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (is_separator(text[at - 1]) && is_device(text.substr(at))) return text.substr(at);
  }
  return "";
}

std::string_view without_device(std::string_view text) {
  const std::string_view device = device_at_end(text);
  return device.empty() ? text : text.substr(0, text.size() - device.size() - 1);
}

/// Whether a text may follow the hosts: the number of a run, or an ending such as dat.
bool may_follow(std::string_view text) {
  constexpr std::size_t kLongestEnding = 7;
  const bool ending = text.size() <= kLongestEnding && std::ranges::all_of(text, is_letter);
  while (!text.empty() && is_letter(text.front())) text.remove_prefix(1);
  return ending || (!text.empty() && std::ranges::all_of(text, is_digit));
}

/// The hosts in the name of a file, each perhaps with its NIC. What follows the hosts is left out where they are alike
/// then.
std::optional<PairName> pair_with_devices(std::string_view path) {
  std::string_view whole = stem_of(path);
  auto given = pair_in_stem(whole);
  // Hosts may be called as programs are, such as osu-worker-0.
  if (given && are_alike(given->from, given->to)) return given;
  whole = without_programs(whole);
  given = pair_in_stem(whole);
  if (given && !device_at_end(given->from).empty() && !device_at_end(given->to).empty()) return given;
  std::string_view stem = without_device(whole);
  given = pair_in_stem(stem);
  std::vector<std::string_view> behind_hosts;
  for (std::size_t at = stem.size(); at != std::string_view::npos; at = stem.find_last_of(kSeparators)) {
    const std::string_view behind = stem.substr(std::min(at + 1, stem.size()));
    stem = without_device(stem.substr(0, at));
    behind_hosts.push_back(behind);
    if (!behind.empty() && !may_follow(behind)) break;
    const auto pair = pair_in_stem(stem);
    if (!pair || !are_alike(pair->from, pair->to)) continue;
    const bool third =
        std::ranges::any_of(behind_hosts, [&](std::string_view text) { return are_alike(text, pair->to); });
    return third ? given : pair;
  }
  return given;
}

/// The hosts in a folder of GNU parallel's --results, such as PREFIX/1/HOSTA/2/HOSTB or PREFIX/1/HOSTA HOSTB: numbers
/// and values of a command's arguments in turn, of which more may follow that are no hosts.
std::optional<PairName> pair_of_parallel(std::string_view folder) {
  const auto parts = parts_of(folder, "/");
  for (std::size_t i = parts.size() - 1; i < parts.size(); i -= 2) {
    const auto words = words_of(parts[i]);
    if (i > 0 && parts[i - 1] == "1" && words.size() == 2) return pair_of(words[0], words[1]);
    if (i > 2 && parts[i - 1] == "2" && parts[i - 3] == "1") return pair_of(parts[i - 2], parts[i]);
    if (i > 2 && parts[i - 1] == "to" && parts[i - 3] == "from") return pair_of(parts[i - 2], parts[i]);  // --header
  }
  return std::nullopt;
}

}  // namespace

bool is_host_name(std::string_view text) {
  const auto may_be_in_it = [](char letter) {
    return is_letter(letter) || is_digit(letter) || is_separator(letter) || letter == ':' || letter == '@';
  };
  const auto counts = [](char letter) { return is_letter(letter) || is_digit(letter); };
  return text.size() <= kLongestHost && std::ranges::all_of(text, may_be_in_it) && std::ranges::any_of(text, counts) &&
         text.front() != '-';
}

std::string_view short_name(std::string_view host) {
  return std::ranges::any_of(host, is_letter) ? host.substr(0, host.find('.')) : host;
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
  const std::string_view file = path.substr(path.rfind('/') + 1);
  if ((file == "stdout" || file == "stderr") && file.size() < path.size()) {
    const std::string_view folder = path.substr(0, path.size() - file.size() - 1);
    if (auto pair = pair_of_parallel(folder)) return pair;
    return pair_in_name(folder);
  }
  constexpr std::string_view kTo = "to_";
  if (file.starts_with(kTo)) {  // FROM/to_TO.log
    const std::string_view folder = path.substr(0, path.size() - std::min(path.size(), file.size() + 1));
    return pair_of(folder.substr(folder.rfind('/') + 1), stem_of(file).substr(kTo.size()));
  }
  auto pair = pair_with_devices(path);
  if (pair) pair = PairName{std::string(without_device(pair->from)), std::string(without_device(pair->to))};
  return pair;
}

PairRails rails_in_name(std::string_view path) {
  if (const auto pair = pair_with_devices(path)) {
    PairRails rails{std::string(device_at_end(pair->from)), std::string(device_at_end(pair->to))};
    if (!rails.from.empty() && !rails.to.empty()) return rails;
  }
  // The first one behind the hosts, or else the nearest folder.
  std::string_view stem = without_programs(stem_of(path));
  for (; !stem.empty(); stem = stem.substr(0, std::min(stem.find_last_of(kSeparators), stem.size()))) {
    const std::string_view device = device_at_end(stem);
    if (!device.empty()) return {std::string(device), std::string(device)};
    if (stem.find_last_of(kSeparators) == std::string_view::npos) break;
  }
  for (std::size_t slash = path.rfind('/'); slash != std::string_view::npos; slash = path.rfind('/')) {
    path = path.substr(0, slash);
    const std::string_view folder = path.substr(path.rfind('/') + 1);
    if (is_device(folder)) return {std::string(folder), std::string(folder)};
  }
  return {};
}

}  // namespace fabricbench::cluster
