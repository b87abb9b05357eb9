// Fields of records as comma-separated values (RFC 4180).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace fabricbench::record {

/// A column: its title, and the JSON pointer to its value in a record; by default the key of that name.
struct CsvColumn {
  std::string_view title;
  std::string_view path = "";
};

/// Lines of the same columns.
class CsvTable {
 public:
  explicit CsvTable(std::span<const CsvColumn> columns);
  [[nodiscard]] std::string header() const;
  /// Numbers have six digits, booleans are 1 or 0, and missing or null values are empty fields.
  [[nodiscard]] std::string line(const nlohmann::ordered_json& record) const;

 private:
  std::vector<std::string> titles_;
  std::vector<nlohmann::ordered_json::json_pointer> paths_;
};

/// Quoted if the text could otherwise be read as more than one field; `printable`, and behind `'` if a spreadsheet
/// would take it for a formula.
[[nodiscard]] std::string csv_text(std::string_view given);

}  // namespace fabricbench::record
