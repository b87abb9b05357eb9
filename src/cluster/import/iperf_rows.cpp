#include "cluster/import/iperf_rows.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cluster/import/text.h"

namespace fabricbench::cluster {
namespace {

/// What stands in square brackets at the beginning, which is cut off; nothing where there are none.
std::optional<std::string_view> take_brackets(std::string_view& line) {
  line = trimmed(line);
  const std::size_t close = line.find(']');
  if (!line.starts_with('[') || close == std::string_view::npos) return std::nullopt;
  const std::string_view inside = trimmed(line.substr(1, close - 1));
  line.remove_prefix(close + 1);
  return inside;
}

/// Bytes per second in one unit such as `Gbits/sec` or `MBytes/sec`; a MByte has 2^20 bytes.
std::optional<double> iperf_unit_of(std::string_view unit) {
  if (!unit.ends_with("Bytes/sec") || unit.size() < 10) return unit_in(unit);
  return unit_in(fmt::format("{}i{}", unit.front(), unit.substr(1)));
}

/// Seconds of `0.00-10.00`, which older versions write as `0.0- 1.0`.
bool take_interval(IperfRow& row, std::string_view text) {
  std::string interval(text);
  std::erase(interval, ' ');
  const std::size_t dash = interval.find('-');
  if (dash == std::string::npos) return false;
  const auto begin = number_in(std::string_view(interval).substr(0, dash));
  const auto end = number_in(std::string_view(interval).substr(dash + 1));
  if (!begin || !end) return false;
  row.begin_s = *begin;
  row.end_s = *end;
  return true;
}

}  // namespace

std::optional<IperfRow> iperf_row_in(std::string_view line) {
  IperfRow row;
  const auto stream = take_brackets(line);
  if (!stream) return std::nullopt;
  row.stream = *stream;
  row.role = take_brackets(line).value_or("");
  const std::size_t sec = line.find(" sec ");
  if (sec == std::string_view::npos || !take_interval(row, line.substr(0, sec))) return std::nullopt;
  const auto words = words_of(line.substr(sec));
  const auto unit =
      std::find_if(words.begin(), words.end(), [](std::string_view word) { return word.ends_with("/sec"); });
  if (unit == words.begin() || unit == words.end()) return std::nullopt;
  const auto value = number_in(unit[-1]);
  const auto bytes = iperf_unit_of(*unit);
  if (!value || !bytes) return std::nullopt;
  row.rate = *value * *bytes;
  row.rest = line.substr(static_cast<std::size_t>(unit->data() + unit->size() - line.data()));
  return row;
}

}  // namespace fabricbench::cluster
