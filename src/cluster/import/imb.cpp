#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/import/imported.h"
#include "cluster/import/text.h"
#include "cluster/import/tool_runs.h"

namespace fabricbench::cluster {
namespace {

/// How many messages count in the time of a row, as the program has it in its bandwidth. That it prints in 10^6 bytes,
/// and up to version 4 in 2^20 bytes. 0: not a test of two processes.
double messages_of(std::string_view test) {
  if (test.starts_with("PingPong") || test.starts_with("PingPing")) return 1;
  if (test == "Sendrecv") return 2;
  return test == "Exchange" ? 4 : 0;
}

class ImbReader {
 public:
  explicit ImbReader(const ImportSource& source) : source_(source) {}

  Imported read() {
    for (TextLines lines(source_.text); lines.next();) take(lines, trimmed(lines.line()));
    if (!others_.empty()) {
      found_.note(0, fmt::format("these are no bandwidths of two processes alone, and are left out: {}",
                                 fmt::join(others_, ", ")));
    }
    if (runs_.empty() && others_.empty()) runs_.emplace_back();
    if (!runs_.empty()) add_runs(found_, source_, runs_);
    return std::move(found_);
  }

 private:
  void take(const TextLines& lines, std::string_view line) {
    constexpr std::string_view kTitle = "# Benchmarking ";
    if (line.starts_with(kTitle)) {
      test_ = one_line(line.substr(kTitle.size()));
      columns_.clear();
    } else if (line.starts_with("# #processes = ")) {
      processes_ = one_line(line.substr(line.find('=') + 1));
      processes_ = processes_.substr(0, processes_.find(';'));
    } else if (has(line, "additional process")) {
      processes_ += " of more";  // so that the two may be on one host
    } else if (line.starts_with("#bytes")) {
      begin_table(lines, words_of(line));
    } else if (!columns_.empty() && !line.starts_with('#')) {
      take_row(lines, words_of(line));
    }
  }

  void begin_table(const TextLines& lines, const std::vector<std::string_view>& titles) {
    const bool is_rate = has_word(titles, "Mbytes/sec") && (messages_of(test_) > 0 || has_word(titles, "Msg/sec"));
    if (!is_rate || processes_ != "2") {
      others_.push_back(processes_ == "2" ? test_ : fmt::format("{} of {} processes", test_, processes_));
      columns_.clear();
      return;
    }
    columns_.assign(titles.begin(), titles.end());
    ToolRun run;
    run.test = "IMB " + test_;
    run.both_ways = test_ != "Uniband";
    run.begin = runs_.empty() ? 0 : lines.begin();
    if (!runs_.empty()) runs_.back().has_ended = true;
    runs_.push_back(std::move(run));
  }

  void take_row(const TextLines& lines, const std::vector<std::string_view>& words) {
    const auto size = words.empty() ? std::nullopt : integer_in(words[0]);
    if (!size || *size <= 0) return;
    const auto bytes = static_cast<double>(*size);
    const auto time_us = value_of("t[usec]", words) ? value_of("t[usec]", words) : value_of("t_max[usec]", words);
    double rate = value_of("Msg/sec", words).value_or(0) * bytes;
    if (time_us && *time_us > 0) rate = messages_of(test_) * bytes / *time_us * 1e6;
    std::optional<SizeRow> row;
    if (rate > 0) row = {.size_bytes = *size, .rate = rate};
    if (row && value_of("defects", words).value_or(0) > 0) row->wrong = "defects";
    cluster::take_row(runs_.back(), lines, std::move(row));
  }

  [[nodiscard]] std::optional<double> value_of(std::string_view title,
                                               const std::vector<std::string_view>& words) const {
    const std::size_t column = place_of(columns_, title);
    return column < std::min(columns_.size(), words.size()) ? number_in(words[column]) : std::nullopt;
  }

  const ImportSource& source_;
  Imported found_;
  std::vector<ToolRun> runs_;
  std::vector<std::string> others_;
  std::string test_;
  std::string processes_;
  std::vector<std::string> columns_;
};

}  // namespace

Imported read_imb(const ImportSource& source) { return ImbReader(source).read(); }

}  // namespace fabricbench::cluster
