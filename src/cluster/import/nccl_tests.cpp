#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cluster/import/failure.h"
#include "cluster/import/pair_name.h"
#include "cluster/import/rate_units.h"
#include "cluster/import/readers.h"
#include "cluster/import/text.h"

namespace fabricbench::cluster {
namespace {

constexpr std::size_t kFewestFields = 8;
constexpr std::string_view kBandwidth = "busbw";  // the title of its columns

struct NcclRank {
  std::string host;
  std::string device;
  std::string pci;  ///< empty: not told, or no GPU
};

struct NcclRow {
  std::int64_t size = 0;
  std::int64_t line = 0;
  std::optional<double> busbw;  ///< GB/s
  std::string wrong;            ///< elements; empty: none, or not checked
};

/// The output of one run.
struct NcclRun {
  std::string test;
  std::vector<NcclRank> ranks;
  std::vector<std::string> columns;
  std::vector<NcclRow> rows;
  bool complete = false;                  ///< the closing lines are there
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

class NcclTestsReader {
 public:
  explicit NcclTestsReader(const ImportSource& source) : source_(source) {}

  Imported read() {
    for (TextLines lines(source_.text); lines.next();) {
      line_ = lines.number();
      offset_ = lines.begin();
      take(without_label(lines.line()));
    }
    if (run_.has_begun() || !any_run_) finish(source_.text.size());
    return std::move(found_);
  }

 private:
  void take(std::string_view line);
  void begin_run(std::string_view opener);
  void take_rank(std::string_view line);
  void take_row(const std::vector<std::string_view>& words);
  void finish(std::size_t end);
  void add_rows(const Reading& reading);
  [[nodiscard]] std::optional<Reading> reading_of_run();

  const ImportSource& source_;
  Imported found_;
  NcclRun run_;
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
  if (text.starts_with('#')) {
    if (has(text, " Rank ") && has(text, " device ")) take_rank(text);
    if (has(text, " size ") && has(text, " busbw")) {
      const auto words = words_of(text.substr(1));
      if (std::find(words.begin(), words.end(), kBandwidth) != words.end())
        run_.columns.assign(words.begin(), words.end());
    }
    run_.complete |= has(text, "Out of bounds values") || has(text, "Avg bus bandwidth");
    return;
  }
  const auto words = words_of(text);
  if (!words.empty() && !run_.columns.empty() && !run_.complete && integer_in(words.front())) take_row(words);
}

/// Begins a new run, unless the line is one of the opening lines of the current one.
void NcclTestsReader::begin_run(std::string_view opener) {
  const auto& openers = run_.openers;
  const bool again = std::find(openers.begin(), openers.end(), opener) != openers.end();
  if (again || !run_.ranks.empty() || !run_.rows.empty() || run_.complete) finish(offset_);
  any_run_ = true;
  if (run_.openers.empty()) run_.begin = offset_;
  run_.openers.push_back(opener);
}

/// `#  Rank  0 Group  0 Pid  123 on node01 device  0 [0000:1b:00] NVIDIA H100`.
void NcclTestsReader::take_rank(std::string_view line) {
  any_run_ = true;
  const auto words = words_of(line);
  const auto on = std::find(words.begin(), words.end(), "on");
  const auto device = std::find(words.begin(), words.end(), "device");
  if (words.end() - on < 2 || words.end() - device < 2 || !is_host_name(on[1])) {
    found_.note(line_, fmt::format("'{}' does not have a rank's host and device", one_line(line)));
    return;
  }
  const std::string_view pci = words.end() - device > 2 ? pci_address_in(device[2]) : std::string_view();
  run_.ranks.push_back({std::string(on[1]), std::string(device[1]), std::string(pci)});
}

/// Finds columns by their titles. A row has one column less for hypercube, whose reduction is blank, and in older
/// versions.
void NcclTestsReader::take_row(const std::vector<std::string_view>& words) {
  const auto& columns = run_.columns;
  const auto column = std::find(columns.begin(), columns.end(), kBandwidth) - columns.begin();
  const bool one_less = words.size() + 1 == columns.size();
  const auto place = static_cast<std::size_t>(column - (one_less ? 1 : 0));
  const std::size_t in_place = place + 4;
  if (words.size() < kFewestFields || words.size() + 1 < columns.size() || place + 1 >= words.size()) {
    found_.note(line_, "a row of the table is incomplete, and is left out");
    return;
  }
  NcclRow row{*integer_in(words.front()), line_, number_in(words[place]), ""};
  std::string_view wrong = words[place + 1];
  if (!row.busbw && in_place + 1 < words.size()) {
    row.busbw = number_in(words[in_place]);
    wrong = words[in_place + 1];
  }
  const auto checked = static_cast<std::size_t>(column) + 1;
  if (const auto elements = number_in(wrong);
      elements && *elements > 0 && checked < columns.size() && columns[checked] == "#wrong") {
    row.wrong = wrong;
  }
  if (!row.busbw) {
    found_.note(line_, "a row of the table has no bandwidth, and is left out");
    return;
  }
  run_.rows.push_back(row);
}

/// The pair of the run, without a figure; nothing where it is none, with a note.
std::optional<Reading> NcclTestsReader::reading_of_run() {
  std::vector<std::string> hosts;
  for (const NcclRank& rank : run_.ranks) {
    if (std::find(hosts.begin(), hosts.end(), rank.host) == hosts.end()) hosts.push_back(rank.host);
  }
  ImportedKind kind{run_.test, ImportedKind::kNoSize};
  if (run_.ranks.size() > 2 && !run_.test.empty()) kind.test += fmt::format(", {} ranks", run_.ranks.size());
  const bool broke_off = hosts.size() < 2 && !run_.complete;
  if (const auto pair = pair_in_name(source_.path); pair && broke_off) {
    found_.by_name_only = !any_run_;
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
  const std::size_t first = found_.readings.size();
  const std::optional<Reading> pair = reading_of_run();
  if (pair) {
    Reading reading = *pair;
    reading.both_ways = true;
    if (run_.complete && !run_.rows.empty()) {
      add_rows(reading);
    } else {
      found_.add_failed(reading, why_it_failed(source_.text.substr(run_.begin, end - run_.begin)));
    }
  }
  if (run_.ranks.size() == 2) {
    for (std::size_t place = first; place < found_.readings.size(); ++place) {
      found_.gpus.push_back({place, run_.ranks[0].pci, run_.ranks[1].pci});
    }
  }
  run_ = {};
}

void NcclTestsReader::add_rows(const Reading& reading) {
  const auto by_size = [](const NcclRow& a, const NcclRow& b) { return a.size < b.size; };
  const std::int64_t largest = std::max_element(run_.rows.begin(), run_.rows.end(), by_size)->size;
  const ImportedKind kind{found_.kinds[static_cast<std::size_t>(reading.kind)].test, largest};
  for (const NcclRow& row : run_.rows) {
    if (row.size != largest) {
      ++found_.smaller_sizes;
      continue;
    }
    Reading of_row = reading;
    of_row.kind = found_.kind_of(kind);
    if (row.wrong.empty()) {
      found_.add(of_row, *row.busbw * kGigabyte, row.line);
    } else {
      found_.add_failed(of_row, fmt::format("{} wrong elements", row.wrong));
    }
  }
}

}  // namespace

Imported read_nccl_tests(const ImportSource& source) { return NcclTestsReader(source).read(); }

}  // namespace fabricbench::cluster
