#include "common/record/text_table.h"

#include <iterator>
#include <utility>

namespace fabricbench::record {
namespace {

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

}  // namespace fabricbench::record
