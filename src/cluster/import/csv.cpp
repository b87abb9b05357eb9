#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/import/csv_lines.h"
#include "cluster/import/pair_name.h"
#include "cluster/import/readers.h"
#include "cluster/import/text.h"
#include "common/core/error.h"

namespace fabricbench::cluster {
namespace {

constexpr std::int64_t kMostRounds = std::int64_t{1} << 30;

/// The columns of the fields, from the header line; nothing: there is no such column.
struct CsvColumns {
  std::optional<std::size_t> from, to, value, test, size, round, from_rail, to_rail, both_ways, reason;
  double unit = 0;  ///< bytes per second of 1
};

bool is_value(std::string_view name) {
  const std::string_view word = name.substr(0, name.find_first_of("(["));
  return is_among(word, {"value", "bandwidth", "rate", "throughput", "bw", "busbw", "bandwidth_gb_per_s"}) ||
         unit_in_title(name).has_value();
}

CsvColumns columns_of(const std::vector<std::string>& names) {
  CsvColumns columns;
  const auto find = [&](const std::vector<std::string_view>& known) -> std::optional<std::size_t> {
    const auto found =
        std::find_if(names.begin(), names.end(), [&](const std::string& name) { return is_among(name, known); });
    return found == names.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - names.begin()));
  };
  columns.from = find(words_for_sender());
  columns.to = find(words_for_receiver());
  columns.test = find({"test"});
  columns.size = find({"size", "size_bytes", "bytes"});
  columns.round = find({"round"});
  columns.from_rail = find({"from_rail", "rail"});
  columns.to_rail = find({"to_rail", "rail"});
  columns.both_ways = find({"both_ways"});
  columns.reason = find({"reason", "error"});
  const auto value = std::find_if(names.begin(), names.end(), [](const std::string& name) { return is_value(name); });
  if (value != names.end()) {
    columns.value = static_cast<std::size_t>(value - names.begin());
    columns.unit = unit_in_title(*value).value_or(0);
  }
  return columns;
}

class CsvReader {
 public:
  explicit CsvReader(const ImportSource& source) : source_(source) {}

  Imported read() {
    for (TextLines lines(source_.text); lines.next();) {
      const std::string_view line = trimmed(lines.line());
      line_ = lines.number();
      if (line.empty() || line.starts_with('#')) continue;
      if (!columns_) {
        if (!begin(lines.line())) return std::move(found_);
      } else {
        take(csv_fields(lines.line(), separator_));
      }
    }
    return std::move(found_);
  }

 private:
  bool begin(std::string_view line);
  void take(const std::vector<std::string>& fields);
  [[nodiscard]] std::string field(const std::vector<std::string>& fields,
                                  const std::optional<std::size_t>& column) const;
  void add_figure(const Reading& reading, const std::string& value, const std::string& reason);

  const ImportSource& source_;
  Imported found_;
  std::optional<CsvColumns> columns_;
  std::size_t fields_ = 0;
  char separator_ = ',';
  std::int64_t line_ = 0;
};

/// Reads the header line. Returns false, and adds a note, if it names no columns.
bool CsvReader::begin(std::string_view line) {
  separator_ = csv_separator(line);
  const auto names = csv_fields(line, separator_);
  CsvColumns columns = columns_of(names);
  if (!columns.from || !columns.to || !columns.value) {
    found_.note(line_,
                fmt::format("'{}' does not name columns from, to and a figure, such as from,to,GB/s", one_line(line)));
    return false;
  }
  if (source_.unit > 0) columns.unit = source_.unit;
  if (columns.unit == 0) {
    throw UsageError(
        fmt::format("{}:{}: the column '{}' does not name the unit; call it GB/s, Gb/s or MiB/s, or give --unit",
                    source_.path, line_, one_line(names[*columns.value])));
  }
  found_.rounds_are_known = columns.round.has_value();
  fields_ = names.size();
  columns_ = columns;
  return true;
}

std::string CsvReader::field(const std::vector<std::string>& fields, const std::optional<std::size_t>& column) const {
  return column ? std::string(trimmed(fields[*column])) : "";
}

void CsvReader::take(const std::vector<std::string>& fields) {
  if (fields.size() != fields_) {
    found_.lose(line_, fmt::format("the line has {} instead of {}, and is left out",
                                   fields.size() == 1 ? "1 field" : fmt::format("{} fields", fields.size()), fields_));
    return;
  }
  const std::string from = field(fields, columns_->from);
  const std::string to = field(fields, columns_->to);
  for (const std::string& host : {from, to}) {
    if (is_host_name(host)) continue;
    found_.lose(line_, fmt::format("'{}' is not a host; the line is left out", one_line(host)));
    return;
  }
  const std::string test = field(fields, columns_->test);
  const std::string round = field(fields, columns_->round);
  const auto number = integer_in(round);
  if (!round.empty() && (!number || *number < 0 || *number >= kMostRounds)) {
    found_.lose(line_, fmt::format("'{}' is not a round; the line is left out", one_line(round)));
    return;
  }
  const auto size = integer_in(field(fields, columns_->size));
  Reading reading = found_.between(from, to, {test.empty() ? "csv" : test, size.value_or(ImportedKind::kNoSize)});
  reading.round = static_cast<std::int32_t>(number.value_or(0));
  reading.from_rail = found_.rail_of(field(fields, columns_->from_rail));
  reading.to_rail = found_.rail_of(field(fields, columns_->to_rail));
  reading.both_ways = is_among(field(fields, columns_->both_ways), {"true", "yes", "1"});
  add_figure(reading, field(fields, columns_->value), field(fields, columns_->reason));
}

/// A failed pair has a word of failure for a value, or a reason. Another missing value was not measured, perhaps.
void CsvReader::add_figure(const Reading& reading, const std::string& value, const std::string& reason) {
  if (const auto figure = number_in(value)) {
    found_.add(reading, *figure * columns_->unit, line_);
  } else if (is_word_of_failure(value) || (is_missing_value(value) && !reason.empty())) {
    found_.add_failed(reading, one_line(reason.empty() ? value : reason));
  } else {
    std::string text = fmt::format("'{}' is not a figure; the line is left out", one_line(value));
    if (is_missing_value(value)) return found_.note(line_, std::move(text));
    found_.lose(line_, std::move(text));
  }
}

}  // namespace

Imported read_csv(const ImportSource& source) {
  return is_csv_matrix(source.text) ? read_csv_matrix(source) : CsvReader(source).read();
}

bool is_csv_of_pairs(std::string_view text) {
  for (TextLines lines(text); lines.next();) {
    const std::string_view line = trimmed(lines.line());
    if (line.empty() || line.starts_with('#')) continue;
    const CsvColumns columns = columns_of(csv_fields(line, csv_separator(line)));
    return columns.from && columns.to && columns.value;
  }
  return false;
}

}  // namespace fabricbench::cluster
