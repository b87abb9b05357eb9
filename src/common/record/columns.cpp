#include "common/record/columns.h"

#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/core/plain_text.h"
#include "common/record/json.h"
#include "common/record/row.h"

namespace fabricbench::record {
namespace {

using Json = nlohmann::ordered_json;

/// What no terminal obeys, and no spreadsheet takes for a formula.
std::string harmless(std::string_view text) {
  const bool is_formula = !text.empty() && std::string_view("=+-@").find(text.front()) != std::string_view::npos;
  return (is_formula ? "'" : "") + printable(text);
}

std::string csv_field(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null: return "";
    case Json::value_t::boolean: return value.get<bool>() ? "1" : "0";
    case Json::value_t::number_float: return fmt::format("{:.6g}", value.get<double>());
    case Json::value_t::string: return csv_text(value.get_ref<const std::string&>());
    default: return value.dump();
  }
}

/// A line of the table; `text` returns each column's part.
template <typename Text>
std::string line_of(const std::vector<TextColumn>& columns, const Text& text) {
  std::string all;
  for (const TextColumn& column : columns) {
    fmt::format_to(std::back_inserter(all), "{}{:>{}}", all.empty() ? "" : "  ", text(column), column.width);
  }
  return all + "\n";
}

template <typename Text>
std::string header_line(const std::vector<TextColumn>& columns, const Text& text) {
  std::string line = line_of(columns, text);
  line.front() = '#';
  return line;
}

}  // namespace

CsvTable::CsvTable(std::span<const CsvColumn> columns) {
  for (const auto& [title, path] : columns) {
    titles_.emplace_back(title);
    paths_.emplace_back(path.empty() ? fmt::format("/{}", title) : std::string(path));
  }
}

std::string CsvTable::header() const { return fmt::format("{}\n", fmt::join(titles_, ",")); }

std::string CsvTable::line(const Json& record) const {
  std::string text;
  for (const auto& path : paths_) {
    if (&path != &paths_.front()) text += ',';
    if (record.contains(path)) text += csv_field(record.at(path));
  }
  return text + '\n';
}

std::string csv_text(std::string_view given) {
  std::string text = harmless(given);
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char character : text) {
    if (character == '"') quoted += '"';
    quoted += character;
  }
  return quoted + '"';
}

Shown field(std::string_view path) {
  return [pointer = Json::json_pointer(std::string(path))](const Json& record) {
    return record.contains(pointer) ? record.at(pointer) : Json();
  };
}

Shown scaled(Shown number, double multiplier) {
  return [number = std::move(number), multiplier](const Json& record) {
    const Json value = number(record);
    return value.is_number() ? Json(value.get<double>() * multiplier) : value;
  };
}

Shown positive(Shown number) {
  return [number = std::move(number)](const Json& record) {
    Json value = number(record);
    return value.is_number() && value > 0 ? value : Json();
  };
}

std::string TextTable::titles() const {
  return header_line(columns_, [](const TextColumn& column) { return column.title; });
}

std::string TextTable::units() const {
  return header_line(columns_, [](const TextColumn& column) { return column.unit; });
}

std::string TextTable::line(const Json& record) const {
  return line_of(columns_, [&](const TextColumn& column) -> std::string {
    const Json value = column.shown(record);
    if (value.is_null()) return std::string(column.missing);
    if (value.is_string()) return value.get<std::string>();
    return value.is_number_float() ? number_(value.get<double>(), column.width) : value.dump();
  });
}

std::vector<Json> placements(const Row& row) {
  Json of_row = to_json(row);
  Json out_of_place = std::exchange(of_row["out_of_place"], nullptr);
  Json in_place = std::exchange(of_row["in_place"], nullptr);
  std::vector<Json> measurements;
  for (auto& [measured, placement] : {std::pair(&out_of_place, "out"), std::pair(&in_place, "in")}) {
    if (measured->is_null()) continue;
    (*measured)["row"] = of_row;
    (*measured)["placement"] = placement;
    measurements.push_back(std::move(*measured));
  }
  return measurements;
}

std::string json_line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace fabricbench::record
