#include "common/core/traffic.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "common/core/error.h"

namespace fabricbench {
namespace {

constexpr Bytes kAlignment = 16;  // nccl-tests' rounding
constexpr double kMostBytes = 0x1p62;

Bytes parse_cell(std::string_view word, double scale, std::size_t line) {
  double value = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (problem != std::errc() || end != word.data() + word.size() || !std::isfinite(value) || value < 0) {
    throw UsageError(fmt::format("line {} of the traffic matrix has '{}'; write bytes, numbers from 0 on", line, word));
  }
  if (value * scale > kMostBytes) {
    throw UsageError(fmt::format("line {} of the traffic matrix: {} times {} bytes are too many", line, word, scale));
  }
  const auto bytes = static_cast<Bytes>(value * scale);
  return bytes - bytes % kAlignment;
}

std::vector<Bytes> parse_row(std::string_view text, double scale, std::size_t line) {
  constexpr std::string_view kSpace = " \t\r\v\f";
  std::vector<Bytes> cells;
  for (std::size_t begin = text.find_first_not_of(kSpace); begin != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kSpace, begin), text.size());
    cells.push_back(parse_cell(text.substr(begin, end - begin), scale, line));
    begin = text.find_first_not_of(kSpace, end);
  }
  return cells;
}

}  // namespace

Traffic::Traffic(std::string_view matrix, double scale) {
  std::size_t columns = 0;
  for (std::size_t begin = 0, line = 1; begin < matrix.size(); ++line) {
    const std::size_t end = std::min(matrix.find('\n', begin), matrix.size());
    const std::vector<Bytes> row = parse_row(matrix.substr(begin, end - begin), scale, line);
    begin = end + 1;
    if (row.empty()) continue;
    if (rows_ == 0) columns = row.size();
    if (row.size() != columns) {
      throw UsageError(
          fmt::format("line {} of the traffic matrix has {} columns, and the first has {}; give every "
                      "rank's row as many columns as there are ranks",
                      line, row.size(), columns));
    }
    matrix_.insert(matrix_.end(), row.begin(), row.end());
    ++rows_;
  }
  if (rows_ == 0 || rows_ != columns) {
    throw UsageError(
        fmt::format("the traffic matrix has {} rows of {} columns; it must be square, with one row for "
                    "each rank that sends and one column for each that receives",
                    rows_, columns));
  }
  for (std::size_t rank = 0; rank < rows_; ++rank) {
    double sent = 0;
    double received = 0;
    for (std::size_t peer = 0; peer < rows_; ++peer) {
      sent += static_cast<double>(matrix_[rank * rows_ + peer]);
      received += static_cast<double>(matrix_[peer * rows_ + rank]);
    }
    if (std::max(sent, received) > kMostBytes) {
      throw UsageError(
          fmt::format("the traffic matrix has rank {} send {:.4g} and receive {:.4g} bytes, which are too "
                      "many; give it less",
                      rank, sent, received));
    }
    busiest_ = std::max(busiest_, static_cast<Bytes>(std::max(sent, received)));
  }
}

std::string Traffic::why_not(int ranks) const {
  if (rows_ == 0 || static_cast<std::size_t>(ranks) <= rows_) return "";
  return "the traffic matrix has fewer rows than there are ranks";
}

std::uint64_t Traffic::elements(int from, int to, int ranks, Bytes part_bytes, Bytes element_bytes) const {
  if (rows_ > 0) return matrix_[static_cast<std::size_t>(from) * rows_ + static_cast<std::size_t>(to)] / element_bytes;
  const double total = static_cast<double>(part_bytes) * ranks;
  const int distance = (to - from + ranks) % ranks;
  const double distances = 0.5 * ranks * (ranks - 1);
  const double weighted = ranks == 1 ? total : total * distance / distances;
  const auto bytes = static_cast<Bytes>((1 - spread_) * static_cast<double>(part_bytes) + spread_ * weighted);
  return (bytes - bytes % kAlignment) / element_bytes;
}

AllToAllVCounts Traffic::counts(int rank, int ranks, Bytes part_bytes, Bytes element_bytes) const {
  AllToAllVCounts counts;
  for (int peer = 0; peer < ranks; ++peer) {
    counts.send_counts.push_back(elements(rank, peer, ranks, part_bytes, element_bytes));
    counts.recv_counts.push_back(elements(peer, rank, ranks, part_bytes, element_bytes));
  }
  counts.send_offsets.resize(counts.send_counts.size());
  counts.recv_offsets.resize(counts.recv_counts.size());
  std::exclusive_scan(counts.send_counts.begin(), counts.send_counts.end(), counts.send_offsets.begin(),
                      std::uint64_t{0});
  std::exclusive_scan(counts.recv_counts.begin(), counts.recv_counts.end(), counts.recv_offsets.begin(),
                      std::uint64_t{0});
  // By distance, all ranks have the same total.
  counts.busiest = rows_ > 0 ? busiest_ / element_bytes : counts.send_offsets.back() + counts.send_counts.back();
  return counts;
}

}  // namespace fabricbench
