#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cluster/import/imported.h"
#include "cluster/import/pair_name.h"
#include "cluster/import/text.h"
#include "common/core/error.h"

namespace fabricbench::cluster {
namespace {

using nlohmann::json;

/// The host in `  0 (node01 ):   0.0 12345.6`, and what is behind it; empty where it is no row.
std::pair<std::string, std::string_view> host_and_figures(std::string_view line) {
  const std::size_t open = line.find('(');
  const std::size_t close = line.find("):");
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
  if (!integer_in(trimmed(line.substr(0, open)))) return {};
  return {std::string(trimmed(line.substr(open + 1, close - open - 1))), line.substr(close + 2)};
}

/// Values have one decimal, and wide ones have no blank between them: `0.0332928.0`.
std::vector<std::string_view> figures_in(std::string_view word) {
  std::vector<std::string_view> figures;
  for (std::size_t point = word.find('.'); point != std::string_view::npos && point + 2 < word.size();) {
    figures.push_back(word.substr(0, point + 2));
    word.remove_prefix(point + 2);
    point = word.find('.');
  }
  figures.push_back(word);
  return figures;
}

/// bandwidth.txt: below `Rank: 0 1 2` a row for each rank.
Imported read_clusterkit_table(const ImportSource& source) {
  Imported found;
  HostMatrix matrix;
  bool in_table = false;
  for (TextLines lines(source.text); lines.next();) {
    const std::string_view line = trimmed(lines.line());
    in_table |= line.starts_with("Rank:");
    const auto [host, figures] = in_table ? host_and_figures(line) : std::pair<std::string, std::string_view>();
    if (host.empty()) continue;
    if (!is_host_name(host)) {
      found.note(lines.number(), fmt::format("'{}' is not a host", one_line(host)));
      return found;
    }
    matrix.hosts.push_back(host);
    matrix.lines.push_back(lines.number());
    matrix.rows.emplace_back();
    for (const std::string_view word : words_of(figures)) {
      for (const std::string_view figure : figures_in(word)) matrix.rows.back().push_back(number_in(figure));
    }
  }
  for (std::size_t i = 0; i < matrix.rows.size(); ++i) {
    const auto& row = matrix.rows[i];
    const bool whole = std::ranges::all_of(row, [](const auto& figure) { return figure.has_value(); });
    if (row.size() == matrix.hosts.size() && whole) continue;
    found.note(matrix.lines[i],
               fmt::format("the row does not have {} figures; the table is left out", matrix.hosts.size()));
    return found;
  }
  add_matrix(found, matrix, {"clusterkit"}, source.unit > 0 ? source.unit : kMegabyte);
  return found;
}

/// The values of an object and of nested objects, each with its keys from the outermost on, up to some depth.
void collect(const json& root, const std::string& path, int depth,
             std::vector<std::pair<std::string, const json*>>& all) {
  constexpr int kDeepest = 4;
  all.emplace_back(lower(path), &root);
  if (!root.is_object() || depth == kDeepest) return;
  for (const auto& [name, value] : root.items()) collect(value, fmt::format("{}/{}", path, name), depth + 1, all);
}

bool is_list_of_hosts(const json& value) {
  return value.is_array() && value.size() > 1 && std::ranges::all_of(value, [](const json& one) {
           return one.is_string() && is_host_name(one.get<std::string>());
         });
}

bool is_matrix(const json& value, std::size_t size) {
  return value.is_array() && value.size() == size && std::ranges::all_of(value, [&](const json& row) {
           return row.is_array() && row.size() == size &&
                  std::ranges::all_of(row, [](const json& cell) { return cell.is_number() || cell.is_null(); });
         });
}

/// The unit: of `--unit`, or else the value of a key `unit` or `units`.
double clusterkit_unit_of(const ImportSource& source, const std::vector<std::pair<std::string, const json*>>& values) {
  if (source.unit > 0) return source.unit;
  for (const auto& [key, value] : values) {
    if ((!key.ends_with("/unit") && !key.ends_with("/units")) || !value->is_string()) continue;
    if (const auto unit = unit_in(value->get<std::string>())) return *unit;
  }
  throw UsageError(fmt::format("{}: it names no unit of bandwidth; give --unit, such as --unit MB/s", source.path));
}

Imported read_clusterkit_json(const ImportSource& source) {
  Imported found;
  const json root = json::parse(source.text, nullptr, false);
  if (!root.is_object()) {
    found.note(0, "the JSON is broken or cut off");
    return found;
  }
  std::vector<std::pair<std::string, const json*>> values;
  collect(root, "", 0, values);
  const auto hosts = std::ranges::find_if(values, [](const auto& one) { return is_list_of_hosts(*one.second); });
  const auto matrices = std::ranges::count_if(values, [&](const auto& one) {
    return hosts != values.end() && is_matrix(*one.second, hosts->second->size()) && !has(one.first, "/lat");
  });
  if (matrices != 1) {
    found.note(0,
               "it does not have one list of hosts and one square matrix of bandwidths; make a CSV of it with columns "
               "from,to,GB/s");
    return found;
  }
  const auto figures = std::ranges::find_if(values, [&](const auto& one) {
    return is_matrix(*one.second, hosts->second->size()) && !has(one.first, "/lat");
  });
  HostMatrix matrix;
  for (const json& host : *hosts->second) matrix.hosts.push_back(host.get<std::string>());
  for (const json& row : *figures->second) {
    matrix.rows.emplace_back();
    matrix.lines.push_back(0);
    for (const json& cell : row) {
      matrix.rows.back().push_back(cell.is_number() ? std::optional(cell.get<double>()) : std::nullopt);
    }
  }
  add_matrix(found, matrix, {"clusterkit"}, clusterkit_unit_of(source, values));
  return found;
}

}  // namespace

Imported read_clusterkit(const ImportSource& source) {
  return trimmed(source.text).starts_with('{') ? read_clusterkit_json(source) : read_clusterkit_table(source);
}

}  // namespace fabricbench::cluster
