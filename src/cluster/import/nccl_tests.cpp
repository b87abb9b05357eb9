#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/import/logs.h"
#include "cluster/import/pair_name.h"
#include "cluster/import/text.h"
#include "cluster/import/tool_runs.h"

namespace fabricbench::cluster {
namespace {

// Runs of nccl-tests 2.0 to 2.19, of rccl-tests and of our collectives. Versions, collectives and options differ in
// their columns, so that each is found by its title.

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
std::string unnamed_test(const SizeRow& row) {
  return fmt::format("nccl-tests, {}, busbw = {:.1f} algbw", row.reduction.empty() ? "none" : row.reduction,
                     row.algbw > 0 ? row.rate / row.algbw : 0);
}

/// What stands in the place of a figure that there is not: not run, not checked, or of a time that rounds to 0.
bool is_no_figure(std::string_view word) { return has_word(Wanted{"N/A", "inf", "nan", "-nan"}, word); }

/// Takes a value; false where it is none of the column. Others than these are passed over.
bool take_value(std::string_view title, std::string_view word, SizeRow& row) {
  if (title == "type") row.datatype = word;
  if (title == "redop" && word != "none") row.reduction = word;
  if (title == "size" || title == "count" || title == "root") {
    const std::optional<std::int64_t> number = integer_in(word);
    if (title == "size") row.size_bytes = number.value_or(0);
    if (title == "root") row.root = number.value_or(-1);
    return number.has_value();
  }
  if (!has_word(Wanted{"time", "cputime", "algbw", "busbw", "#wrong"}, title)) return true;
  const double figure = number_in(word).value_or(0);
  if (title == "time" && figure > 0) row.time_s = figure * kMicrosecond;
  if (title == "algbw") row.algbw = figure * kGigabyte;
  if (title == "busbw") row.rate = figure * kGigabyte;
  if (title == "#wrong" && figure > 0) {
    row.wrong = fmt::format("{} elements {}", word, row.placement == "in_place" ? "in place" : "out of place");
  }
  return number_in(word) || is_no_figure(word);
}

bool has_no_figure(const SizeRow& row) { return !row.time_s && row.rate == 0 && row.wrong.empty(); }

/// The rest of the line.
std::string_view behind(std::string_view line, std::string_view words) {
  const std::size_t at = line.find(words);
  return at == std::string_view::npos ? std::string_view() : trimmed(line.substr(at + words.size()));
}

class NcclTestsReader {
 public:
  explicit NcclTestsReader(std::string_view text) : text_(text), lines_(text) {}

  std::vector<ToolRun> read() {
    while (lines_.next()) take(trimmed(lines_.line()));
    const bool has_begun = !openers_.empty() || !run_.ranks.empty() || !run_.rows.empty() || run_.has_ended;
    if (has_begun || runs_.empty()) finish(text_.size());
    return std::move(runs_);
  }

 private:
  void take(std::string_view line) {
    if (!line.starts_with('#')) {
      if (!run_.has_ended && is_row(line)) take_row(line);
      return;
    }
    for (const std::string_view opener : kOpeners) {
      if (line.starts_with(opener)) begin_run(opener);
    }
    take_opener(line);
    if (has(line, " Rank ") && has(line, " device ")) take_rank(line);
    take_titles(line);
    take_closing(line);
  }

  /// `# nThread 1 nGpus 8 minBytes 8 ...` and others. How often and how long is not kept.
  void take_opener(std::string_view line) {
    if (const auto test = behind(line, "# Collective test starting:"); !test.empty()) run_.test = test;
    const auto words = words_of(line);
    const bool has_version = line.starts_with(kOpeners[0]) || line.starts_with(kOpeners[1]);
    if (has_version) tool_ = words[1];
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (const auto version = behind(words[i], "ccl-library="); has_version && !version.empty()) {
        run_.settings.emplace_back("library", fmt::format("NCCL {}", version));
      }
      if (i + 1 < words.size() && line.starts_with("# nThread ") && (words[i] == "nThread" || words[i] == "nGpus")) {
        run_.settings.emplace_back(words[i], words[i + 1]);
      }
    }
  }

  /// The last lines. The average may be less than was asked for, and data right.
  void take_closing(std::string_view line) {
    const bool of_data = has(line, "Out of bounds values");
    if (!of_data && !has(line, "Avg bus bandwidth")) return;
    run_.has_ended = true;
    run_.closing = lines_.begin();
    if (of_data ? has(line, " OK") : !has(line, "FAILED")) return;
    if (of_data) run_.wrong = {lines_.number(), fmt::format("'{}'", one_line(line))};
    if (!of_data) run_.failure = one_line(line);
  }

  /// Begins a new run, unless the line is one of the opening lines of the current one. Two programs at once, built
  /// without MPI, print all of theirs before the first table.
  void begin_run(std::string_view opener) {
    const bool again = has_word(openers_, opener);
    const bool before_table = titles_.empty() && run_.rows.empty() && !run_.has_ended &&
                              words_of_failure_in(text_.substr(run_.begin, lines_.begin() - run_.begin)).empty();
    if ((again || !run_.ranks.empty()) && !before_table) finish(lines_.begin());
    if (!run_.rows.empty() || run_.has_ended) finish(lines_.begin());
    if (openers_.empty()) run_.begin = lines_.begin();
    openers_.push_back(opener);
  }

  /// `#  Rank  0 Group  0 Pid  123 on node01 device  0 [0000:1b:00] NVIDIA H100`.
  void take_rank(std::string_view line) {
    const auto words = words_of(line);
    const auto number = std::ranges::find(words, "Rank");
    const auto on = std::ranges::find(words, "on");
    const auto device = std::ranges::find(words, "device");
    if (words.end() - on < 2 || words.end() - device < 2 || !is_host_name(on[1])) {
      run_.notes.push_back(
          {lines_.number(), fmt::format("'{}' does not have a rank's host and device", one_line(line))});
      return;
    }
    ToolRank rank{std::string(number[1]), std::string(on[1]), std::string(device[1]), "", ""};
    if (words.end() - device > 2) {
      rank.pci = pci_address_in(device[2]);
      rank.model = fmt::format("{}", fmt::join(device + 3, words.end(), " "));
    }
    const auto same =
        std::ranges::find_if(run_.ranks, [&](const ToolRank& other) { return other.number == rank.number; });
    if (same != run_.ranks.end()) {
      run_.repeated_rank = {lines_.number(), rank.number};
      run_.without_mpi |= same->host != rank.host;
      if (same->host == rank.host) run_.ranks.clear();  // the run above it has been repeated
    }
    run_.ranks.push_back(std::move(rank));
  }

  void take_row(std::string_view line) {
    run_.behind_rows = lines_.end();
    const auto rows = rows_in(line);
    if (!rows) return run_.notes.push_back({lines_.number(), "a row of the table is incomplete"});
    if (rows->empty()) return cluster::take_row(run_, lines_, std::nullopt);
    if (unnamed_.empty()) unnamed_ = unnamed_test(rows->front());
    for (const SizeRow& row : *rows) cluster::take_row(run_, lines_, row);
  }

  /// Remembers the columns if a comment names them.
  void take_titles(std::string_view line) {
    const std::vector<std::string_view> words = words_of(line.substr(line.starts_with('#') ? 1 : 0));
    if (has_word(words, "in-place") || has_word(words, "out-of-place")) {
      next_in_place_.clear();
      for (const std::string_view word : words) {
        if (word == "in-place" || word == "out-of-place") next_in_place_.push_back(word == "in-place");
      }
    } else if (!words.empty() && words.front() == "size" && has_word(words, "busbw")) {
      titles_.assign(words.begin(), words.end());
      in_place_ = std::exchange(next_in_place_, {});
    }
  }

  /// Whether a line stands where a row does: it begins with a number, below titles, and is none that rccl-tests
  /// skipped.
  [[nodiscard]] bool is_row(std::string_view line) const {
    const std::vector<std::string_view> words = words_of(line);
    return !titles_.empty() && !words.empty() && integer_in(words.front()) && !has(line, " SKIP ");
  }

  /// A row for each placement with a figure, in the order of the columns. Nothing where a value is missing, is none of
  /// its column, or stands for no title.
  [[nodiscard]] std::optional<std::vector<SizeRow>> rows_in(std::string_view line) const {
    const std::vector<std::string_view> words = cells(line);
    SizeRow settings;
    std::vector<SizeRow> rows;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string& title = titles_[i];
      if (title == "time" || title == "cputime") {
        const bool in_place = rows.size() < in_place_.size() ? in_place_[rows.size()] : !rows.empty();
        rows.push_back(settings);
        rows.back().placement = in_place ? "in_place" : "out_of_place";
      }
      if (!take_value(title, words[i], rows.empty() ? settings : rows.back())) return std::nullopt;
    }
    if (rows.empty()) return std::nullopt;
    for (SizeRow& row : rows) {  // `cputime` is the host's: the bandwidth tells the operation's, if it has three digits
      if (!row.time_s && row.algbw >= kGigabyte) row.time_s = static_cast<double>(row.size_bytes) / row.algbw;
    }
    std::erase_if(rows, has_no_figure);
    return rows;
  }

  /// A word for each title; empty where these are not as many. The reduction of hypercube is blank, and a timestamp has
  /// two words.
  [[nodiscard]] std::vector<std::string_view> cells(std::string_view line) const {
    constexpr std::size_t kTimestamp = 19;  // letters
    std::vector<std::string_view> words = words_of(line);
    const std::size_t timestamp = place_of(titles_, "timestamp");
    const std::size_t redop = place_of(titles_, "redop");
    const std::size_t wanted = titles_.size() + (timestamp < titles_.size() ? 1 : 0);
    if (words.size() + 1 == wanted && redop < words.size() && place_of(titles_, "root") == redop + 1 &&
        integer_in(words[redop])) {
      words.insert(words.begin() + static_cast<std::ptrdiff_t>(redop), "");
    }
    if (words.size() != wanted) return {};
    if (timestamp < titles_.size()) {
      const std::string_view day = words[timestamp];
      const std::string_view time = words[timestamp + 1];
      if (day.size() + 1 + time.size() != kTimestamp) return {};
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(timestamp) + 1);
    }
    return words;
  }

  void finish(std::size_t end) {
    run_.program = fmt::format("{} {}", tool_, run_.test.empty() ? "log" : run_.test);
    if (run_.test.empty()) run_.test = std::move(unnamed_);
    run_.both_ways = run_.names_hosts = run_.must_end = true;
    runs_.push_back(std::exchange(run_, {}));
    run_.begin = end;
    titles_.clear();
    in_place_.clear();
    next_in_place_.clear();
    unnamed_.clear();
    openers_.clear();
  }

  std::string_view text_;
  TextLines lines_;
  std::vector<ToolRun> runs_;
  std::string tool_ = "nccl-tests";
  // Of the current run:
  ToolRun run_;
  std::vector<std::string> titles_;
  std::vector<bool> in_place_;             // of each group of figures below the titles
  std::vector<bool> next_in_place_;        // of titles that are still to come
  std::string unnamed_;                    // test, by its columns
  std::vector<std::string_view> openers_;  // of kOpeners those that were there
};

}  // namespace

std::vector<ToolRun> nccl_tests_runs(std::string_view text) { return NcclTestsReader(text).read(); }

}  // namespace fabricbench::cluster
