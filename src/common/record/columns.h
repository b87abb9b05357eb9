// Fields of records as columns of printed text.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "common/record/json.h"

namespace fabricbench::record {

// Fields of records as comma-separated values (RFC 4180).

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

/// The value of a column for a record from to_json: a number, a text, or null for nothing.
using Shown = std::function<Json(const Json& record)>;

/// The field at a JSON pointer such as `/time_us_interval/low_us`; null if the record has none.
[[nodiscard]] Shown field(std::string_view path);
/// The same, multiplied.
[[nodiscard]] Shown scaled(Shown number, double multiplier);
/// The same, and null unless above 0.
[[nodiscard]] Shown positive(Shown number);

/// A column: its two header lines, its width in characters, and what it shows.
struct TextColumn {
  std::string_view title;
  std::string_view unit;
  int width = 0;  ///< at least
  Shown shown;
  std::string_view missing = "-";  ///< in place of null
};

/// Lines of the same columns, right-aligned, with two spaces between them.
class TextTable {
 public:
  /// Formats a number in `width` characters, as `readable` and `fitted` do.
  using NumberText = std::string (*)(double value, int width);

  TextTable(std::vector<TextColumn> columns, NumberText number) : columns_(std::move(columns)), number_(number) {}

  /// Each of the two header lines is marked with `#` in its first character.
  [[nodiscard]] std::string titles() const;
  [[nodiscard]] std::string units() const;
  /// Whole numbers keep all digits.
  [[nodiscard]] std::string line(const Json& record) const;

 private:
  std::vector<TextColumn> columns_;
  NumberText number_;
};

}  // namespace fabricbench::record
