#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/import/failure.h"
#include "cluster/import/nccl_table.h"
#include "cluster/import/pair_name.h"
#include "cluster/import/rate_units.h"
#include "cluster/import/readers.h"
#include "cluster/import/text.h"

namespace fabricbench::cluster {
namespace {

struct NcclRank {
  std::string number;
  std::string host;
  std::string device;
  std::string pci;  ///< empty: not told, or no GPU
};

struct NcclRow {
  std::int64_t size = 0;
  std::int64_t line = 0;
  double busbw = 0;  ///< GB/s
};

/// The output of one run.
struct NcclRun {
  std::string test;
  std::vector<NcclRank> ranks;
  NcclTable table;
  std::vector<NcclRow> rows;
  std::string wrong;                      ///< the first wrong data; empty: none
  bool complete = false;                  ///< the closing lines are there
  std::size_t closing = 0;                ///< the last one of these, in the text
  bool without_mpi = false;               ///< a rank appears on two hosts
  std::size_t begin = 0;                  ///< in the text
  std::vector<std::string_view> openers;  ///< of kOpeners those that were there

  [[nodiscard]] bool has_begun() const { return !openers.empty() || !ranks.empty() || !rows.empty() || complete; }
};

/// Lines with which a run begins, not all of them in every version.
constexpr std::array<std::string_view, 4> kOpeners = {"# nccl-tests version", "# rccl-tests version",
                                                      "# Collective test starting", "# nThread "};

/// `0000:1b:00` of `[0000:1b:00]`, `0x1b` of older versions' `[0x1b]`; empty where it is none, such as `[host]`.
std::string_view pci_address_in(std::string_view word) {
  if (word.size() < 3 || word.front() != '[' || word.back() != ']') return "";
  const std::string_view address = word.substr(1, word.size() - 2);
  return address.find_first_not_of("0123456789abcdefABCDEFx:.") == std::string_view::npos ? address : "";
}

/// Older versions do not name the collective, which the reduction and the ratio of the bandwidths tell from others.
std::string unnamed_test(const NcclTableRow& row, const NcclFigures& figures) {
  const double algbw = figures.algbw.value_or(0);
  return fmt::format("nccl-tests, {}, busbw = {:.1f} algbw", row.redop.empty() ? "none" : row.redop,
                     algbw > 0 ? figures.busbw.value_or(0) / algbw : 0);
}

class NcclTestsReader {
 public:
  explicit NcclTestsReader(const ImportSource& source) : source_(source) {}

  Imported read() {
    for (TextLines lines(source_.text); lines.next();) {
      line_ = lines.number();
      offset_ = lines.begin();
      take(lines.line());
    }
    if (run_.has_begun() || !any_run_) finish(source_.text.size());
    for (auto& [reading, ranks, words] : failed_) {
      const std::size_t first = found_.readings.size();
      found_.add_failed_run(reading, std::move(words));
      add_gpus(ranks, first);
    }
    return std::move(found_);
  }

 private:
  struct Failed {
    Reading reading;
    std::vector<NcclRank> ranks;
    std::string words;
  };

  void take(std::string_view line);
  void take_closing(std::string_view line);
  void begin_run(std::string_view opener);
  void tell_of_lost_run(std::size_t end);
  void take_rank(std::string_view line);
  void take_row(std::string_view line);
  void take_wrong(const NcclTableRow& row);
  void finish(std::size_t end);
  void add_rows(const Reading& reading);
  void add_gpus(const std::vector<NcclRank>& ranks, std::size_t first);
  [[nodiscard]] std::optional<Reading> reading_of_run();

  const ImportSource& source_;
  Imported found_;
  NcclRun run_;
  std::vector<Failed> failed_;
  bool any_run_ = false;
  std::int64_t line_ = 0;
  std::size_t offset_ = 0;
};

/// The rest of the line.
std::string_view behind(std::string_view line, std::string_view words) {
  const std::size_t at = line.find(words);
  return at == std::string_view::npos ? std::string_view() : trimmed(line.substr(at + words.size()));
}

void NcclTestsReader::take(std::string_view line) {
  const std::string_view text = trimmed(line);
  for (const std::string_view opener : kOpeners) {
    if (text.starts_with(opener)) begin_run(opener);
  }
  if (const auto test = behind(text, "# Collective test starting:"); !test.empty()) run_.test = test;
  if (!text.starts_with('#')) {
    if (!run_.complete && run_.table.is_row(text)) take_row(text);
    return;
  }
  if (has(text, " Rank ") && has(text, " device ")) take_rank(text);
  run_.table.take_comment(text);
  take_closing(text);
}

void NcclTestsReader::take_closing(std::string_view line) {
  if (!has(line, "Out of bounds values") && !has(line, "Avg bus bandwidth")) return;
  run_.complete = true;
  run_.closing = offset_;
  if (run_.wrong.empty() && has(line, "FAILED")) run_.wrong = fmt::format("'{}', line {}", one_line(line), line_);
}

/// Begins a new run, unless the line is one of the opening lines of the current one. Two programs at once, built
/// without MPI, print all of theirs before the first table.
void NcclTestsReader::begin_run(std::string_view opener) {
  const auto& openers = run_.openers;
  const bool again = std::find(openers.begin(), openers.end(), opener) != openers.end();
  const bool before_table = !run_.table.has_titles() && run_.rows.empty() && !run_.complete &&
                            words_of_failure_in(source_.text.substr(run_.begin, offset_ - run_.begin)).empty();
  if ((again || !run_.ranks.empty()) && !before_table) finish(offset_);
  if (!run_.rows.empty() || run_.complete) finish(offset_);
  any_run_ = true;
  if (run_.openers.empty()) run_.begin = offset_;
  run_.openers.push_back(opener);
}

/// A run that failed before its first line, behind another one in a log of several pairs: nothing tells which hosts it
/// is about.
void NcclTestsReader::tell_of_lost_run(std::size_t end) {
  const std::string words = words_of_failure_in(source_.text.substr(run_.closing, end - run_.closing));
  if (words.empty() || pair_in_name(source_.path)) return;
  found_.note(line_, fmt::format("a run before this line is not understood: {}", words));
  ++found_.lost_runs;
}

/// `#  Rank  0 Group  0 Pid  123 on node01 device  0 [0000:1b:00] NVIDIA H100`.
void NcclTestsReader::take_rank(std::string_view line) {
  any_run_ = true;
  const auto words = words_of(line);
  const auto number = std::find(words.begin(), words.end(), "Rank");
  const auto on = std::find(words.begin(), words.end(), "on");
  const auto device = std::find(words.begin(), words.end(), "device");
  if (words.end() - on < 2 || words.end() - device < 2 || !is_host_name(on[1])) {
    found_.note(line_, fmt::format("'{}' does not have a rank's host and device", one_line(line)));
    return;
  }
  const std::string_view pci = words.end() - device > 2 ? pci_address_in(device[2]) : std::string_view();
  NcclRank rank{std::string(number[1]), std::string(on[1]), std::string(device[1]), std::string(pci)};
  const auto same = std::find_if(run_.ranks.begin(), run_.ranks.end(),
                                 [&](const NcclRank& other) { return other.number == rank.number; });
  if (same != run_.ranks.end() && same->host == rank.host) run_.ranks.clear();  // the run above it has been repeated
  run_.without_mpi |= same != run_.ranks.end() && same->host != rank.host;
  run_.ranks.push_back(std::move(rank));
}

/// The bandwidth out of place, or else the one in place.
void NcclTestsReader::take_row(std::string_view line) {
  const std::optional<NcclTableRow> row = run_.table.row(line);
  if (!row) {
    found_.note(line_, "a row of the table is incomplete, and is left out");
    return;
  }
  take_wrong(*row);
  const auto figures = std::find_if(row->placements.begin(), row->placements.end(),
                                    [](const NcclFigures& each) { return each.busbw.has_value(); });
  if (figures == row->placements.end()) {
    found_.note(line_, "a row of the table has no bandwidth, and is left out");
    return;
  }
  if (run_.test.empty()) run_.test = unnamed_test(*row, *figures);
  run_.rows.push_back({row->size, line_, *figures->busbw});
}

void NcclTestsReader::take_wrong(const NcclTableRow& row) {
  for (const NcclFigures& each : row.placements) {
    if (each.wrong.empty() || !run_.wrong.empty()) continue;
    run_.wrong = fmt::format("{} elements {} at {} B, line {}", each.wrong, each.in_place ? "in place" : "out of place",
                             row.size, line_);
  }
}

/// The pair of the run, without a figure; nothing where it is none, with a note.
std::optional<Reading> NcclTestsReader::reading_of_run() {
  std::vector<std::string> hosts;
  for (const NcclRank& rank : run_.ranks) {
    if (std::find(hosts.begin(), hosts.end(), rank.host) == hosts.end()) hosts.push_back(rank.host);
  }
  ImportedKind kind{run_.test, ImportedKind::kNoSize};
  if (run_.ranks.size() > 2 && !run_.test.empty()) kind.test += fmt::format(", {} ranks", run_.ranks.size());
  for (const NcclRow& row : run_.rows) kind.size_bytes = std::max(kind.size_bytes, row.size);
  const bool broke_off = hosts.size() < 2 && !run_.complete;
  if (const auto pair = pair_in_name(source_.path); pair && broke_off) {
    return found_.between(pair->from, pair->to, kind);
  }
  if (hosts.empty()) {
    found_.note(0, fmt::format("no line names its hosts, and its name does not contain the pair; {}", kHowToName));
    return std::nullopt;
  }
  if (hosts.size() != 2) {
    found_.note(
        0, fmt::format("it ran on {} {}, not on a pair of hosts", hosts.size(), hosts.size() == 1 ? "host" : "hosts"));
    return std::nullopt;
  }
  Reading reading = found_.between(hosts[0], hosts[1], kind);
  if (run_.ranks.size() == 2) {
    reading.from_rail = found_.rail_of("gpu" + run_.ranks[0].device);
    reading.to_rail = found_.rail_of("gpu" + run_.ranks[1].device);
  }
  return reading;
}

void NcclTestsReader::finish(std::size_t end) {
  if (run_.complete) tell_of_lost_run(end);
  const std::string_view text = source_.text.substr(run_.begin, end - run_.begin);
  if (run_.without_mpi) {
    found_.note(0,
                "ranks appear twice, on different hosts: the program was built without MPI, and its runs were apart");
  } else if (std::optional<Reading> pair = reading_of_run()) {
    pair->both_ways = true;
    const std::size_t first = found_.readings.size();
    const bool has_result = run_.complete && !run_.rows.empty();
    std::string words = has_result ? "" : words_of_failure_in(text);
    if (!run_.wrong.empty()) {
      found_.add_wrong(*pair, std::move(run_.wrong));
    } else if (has_result) {
      add_rows(*pair);
    } else if (!words.empty()) {
      failed_.push_back({*pair, run_.ranks, std::move(words)});
    } else {
      found_.note(0, why_it_failed(text));
    }
    add_gpus(run_.ranks, first);
  }
  run_ = {};
  run_.begin = end;
}

/// Keeps the GPUs of the readings from `first`.
void NcclTestsReader::add_gpus(const std::vector<NcclRank>& ranks, std::size_t first) {
  for (std::size_t place = first; ranks.size() == 2 && place < found_.readings.size(); ++place) {
    found_.gpus.push_back({place, ranks[0].pci, ranks[1].pci});
  }
}

void NcclTestsReader::add_rows(const Reading& reading) {
  const std::int64_t largest = found_.kinds[static_cast<std::size_t>(reading.kind)].size_bytes;
  for (const NcclRow& row : run_.rows) {
    if (row.size == largest) {
      found_.add(reading, row.busbw * kGigabyte, row.line);
    } else {
      ++found_.smaller_sizes;
    }
  }
}

}  // namespace

Imported read_nccl_tests(const ImportSource& source) { return NcclTestsReader(source).read(); }

}  // namespace fabricbench::cluster
