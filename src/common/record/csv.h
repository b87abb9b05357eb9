// Fields of records as comma-separated values (RFC 4180).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace fabricbench::record {

/// A column: its title, and where its value stands in a record's JSON, as a JSON pointer; the key of that name, if
/// empty.
struct CsvColumn {
  std::string_view title;
  std::string_view path = "";
};

/// Lines of the same columns.
class CsvTable {
 public:
  explicit CsvTable(std::span<const CsvColumn> columns);
  [[nodiscard]] std::string header() const;
  /// Numbers have six digits, truth is 1 or 0, and what is null or not there is an empty field.
  [[nodiscard]] std::string line(const nlohmann::ordered_json& record) const;

 private:
  std::vector<std::string> titles_;
  std::vector<nlohmann::ordered_json::json_pointer> paths_;
};

/// Quoted where its text would otherwise be read as more than one field.
[[nodiscard]] std::string csv_text(std::string_view text);

}  // namespace fabricbench::record
