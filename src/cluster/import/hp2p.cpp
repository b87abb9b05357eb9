#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cluster/import/imported.h"
#include "cluster/import/pair_name.h"
#include "cluster/import/text.h"

namespace fabricbench::cluster {
namespace {

/// What stands between `var NAME =` and the semicolon behind it; empty where it is not there, or cut off.
std::string_view script_value_of(std::string_view text, std::string_view name) {
  const std::size_t at = text.find(fmt::format("var {} =", name));
  if (at == std::string_view::npos) return {};
  const std::size_t begin = text.find('=', at) + 1;
  const std::size_t end = text.find(';', begin);
  return end == std::string_view::npos ? std::string_view() : trimmed(text.substr(begin, end - begin));
}

/// The line of a part of the text.
std::int64_t line_of_part(std::string_view text, std::string_view part) {
  if (part.empty()) return 0;
  return 1 + std::count(text.data(), part.data(), '\n');
}

/// The texts in quotation marks.
std::vector<std::string> strings_of(std::string_view list) {
  std::vector<std::string> found;
  for (std::size_t begin = list.find('"'); begin != std::string_view::npos;) {
    const std::size_t end = list.find('"', begin + 1);
    if (end == std::string_view::npos) break;
    found.emplace_back(list.substr(begin + 1, end - begin - 1));
    begin = list.find('"', end + 1);
  }
  return found;
}

/// `[ 1.00, 2.00, ]`, with or without the comma at the end.
std::vector<std::string_view> numbers_of(std::string_view row) {
  std::vector<std::string_view> numbers;
  while (!row.empty()) {
    const std::size_t comma = std::min(row.find(','), row.size());
    if (const auto number = trimmed(row.substr(0, comma)); !number.empty()) numbers.push_back(number);
    row.remove_prefix(std::min(comma + 1, row.size()));
  }
  return numbers;
}

std::vector<std::vector<std::string_view>> rows_of(std::string_view matrix) {
  std::vector<std::vector<std::string_view>> rows;
  for (std::size_t begin = matrix.find('[', 1); begin != std::string_view::npos; begin = matrix.find('[', begin + 1)) {
    const std::size_t end = matrix.find(']', begin);
    if (end == std::string_view::npos) break;
    rows.push_back(numbers_of(matrix.substr(begin + 1, end - begin - 1)));
  }
  return rows;
}

/// Both partners of an exchange have timed it: the mean of those that have, in MiB/s; 0: the two never met.
double of_both(double one, double other) {
  if (one > 0 && other > 0) return (one + other) / 2;
  return std::max(one, other);
}

}  // namespace

Imported read_hp2p(const ImportSource& source) {
  Imported found;
  const auto hosts = strings_of(script_value_of(source.text, "hostlist"));
  const std::string_view bandwidth = script_value_of(source.text, "bandwidth");
  const std::int64_t line = line_of_part(source.text, bandwidth);
  if (hosts.empty() || bandwidth.empty()) {
    found.note(0, "it lacks the lists hostlist and bandwidth of hp2p's HTML page, or is cut off");
    return found;
  }
  if (const auto bad = std::ranges::find_if_not(hosts, is_host_name); bad != hosts.end()) {
    found.note(line_of_part(source.text, script_value_of(source.text, "hostlist")),
               fmt::format("'{}' is not a host", one_line(*bad)));
    return found;
  }
  HostMatrix matrix{hosts, {}, std::vector(hosts.size(), line)};
  for (const auto& row : rows_of(bandwidth)) {
    matrix.rows.emplace_back();
    for (const std::string_view number : row) matrix.rows.back().push_back(number_in(number));
  }
  const auto is_whole = [&](const std::vector<std::optional<double>>& row) {
    const auto is_figure = [](const std::optional<double>& figure) { return figure.value_or(-1) >= 0; };
    return row.size() == hosts.size() && std::ranges::all_of(row, is_figure);
  };
  if (matrix.rows.size() != hosts.size() || !std::ranges::all_of(matrix.rows, is_whole)) {
    found.note(line, fmt::format("the matrix of bandwidths does not have {0} by {0} figures", hosts.size()));
    return found;
  }
  for (std::size_t one = 0; one < hosts.size(); ++one) {
    for (std::size_t other = 0; other < one; ++other) {
      std::optional<double>& figure = matrix.rows[one][other];
      figure = matrix.rows[other][one] = of_both(*figure, *matrix.rows[other][one]);
    }
  }
  const auto size = integer_in(script_value_of(source.text, "msg_size"));
  add_matrix(found, matrix, {"hp2p", size.value_or(ImportedKind::kNoSize)}, kMebibyte);
  return found;
}

}  // namespace fabricbench::cluster
