#include "common/record/csv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/core/plain_text.h"

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

}  // namespace fabricbench::record
