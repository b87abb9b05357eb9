#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "cluster/import/rate_units.h"
#include "cluster/import/readers.h"
#include "cluster/import/size_rows.h"
#include "cluster/import/text.h"
#include "common/core/error.h"

namespace fabricbench::cluster {
namespace {

constexpr std::size_t kAverage = 3;  // the column, behind the size, the iterations and the peak

/// The program by its title, `RDMA_Write Bidirectional BW Test`; empty where it is none of these.
std::string perftest_test_of(std::string_view title) {
  if (has(title, "RDMA_Write")) return "ib_write_bw";
  if (has(title, "RDMA_Read")) return "ib_read_bw";
  return has(title, "Send") ? "ib_send_bw" : "";
}

/// Of `#bytes #iterations BW peak[MB/sec] BW average[MB/sec] MsgRate[Mpps]`: bytes per second of 1.
double perftest_unit_of(const ImportSource& source, const TextLines& lines) {
  const std::string_view line = lines.line();
  if (has(line, "average[MB/sec]") || has(line, "average[MiB/sec]")) return kMebibyte;  // it calls them MB too
  if (has(line, "average[Gb/sec]")) return kGigabit;
  throw UsageError(fmt::format("{}:{}: '{}' names no known unit; run it with --report_gbits", source.path,
                               lines.number(), one_line(line)));
}

class PerftestReader {
 public:
  explicit PerftestReader(const ImportSource& source) : source_(source) {}

  Imported read() {
    for (TextLines lines(source_.text); lines.next();) take(lines);
    if (other_test_) return std::move(found_);
    add_pair_log(found_, source_, log_);
    return std::move(found_);
  }

 private:
  void take(const TextLines& lines) {
    const std::string_view line = trimmed(without_label(lines.line()));
    const bool other = line.ends_with("Latency Test");
    if (line.ends_with(" BW Test") || other) {
      log_.test = other ? "" : perftest_test_of(line);
      log_.both_ways = has(line, "Bidirectional");
      log_.backwards = log_.test == "ib_read_bw";
      other_test_ = log_.test.empty();
      if (other_test_) {
        found_.note(lines.number(), fmt::format("'{}' is not ib_write_bw, ib_read_bw or ib_send_bw", one_line(line)));
      }
    } else if (line.starts_with("#bytes") && lines.is_whole() && !other_test_) {
      unit_ = perftest_unit_of(source_, lines);
    } else if (unit_) {
      take_row(lines, words_of(line));
    }
  }

  void take_row(const TextLines& lines, const std::vector<std::string_view>& words) {
    if (words.size() < 2 || !integer_in(words[0]) || !integer_in(words[1])) return;  // a line of `-`, or a launcher's
    const auto average = words.size() > kAverage ? number_in(words[kAverage]) : std::nullopt;
    if (!average) {
      found_.note(lines.number(), "a row of the table has no average bandwidth, and is left out");
      return;
    }
    log_.add_row({*integer_in(words[0]), lines.number(), *average * *unit_, ""}, lines.end());
  }

  const ImportSource& source_;
  Imported found_;
  PairLog log_;
  std::optional<double> unit_;
  bool other_test_ = false;
};

}  // namespace

Imported read_perftest(const ImportSource& source) { return PerftestReader(source).read(); }

}  // namespace fabricbench::cluster
