// Fields of records as columns of printed text.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/record/json.h"

namespace fabricbench::record {

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
