#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/import/imported.h"
#include "cluster/import/pair_name.h"
#include "cluster/import/text.h"
#include "common/core/error.h"

namespace fabricbench::cluster {
namespace {

/// The separator of a line's fields: comma, semicolon or tab, whichever is most frequent.
char csv_separator(std::string_view line) {
  char most = ',';
  for (const char separator : {';', '\t'}) {
    if (std::ranges::count(line, separator) > std::ranges::count(line, most)) most = separator;
  }
  return most;
}

/// The fields of a line. One may stand in quotation marks, which are doubled within.
std::vector<std::string> csv_fields(std::string_view line, char separator) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char letter = line[i];
    const bool doubled = quoted && letter == '"' && i + 1 < line.size() && line[i + 1] == '"';
    if (doubled) {
      fields.back() += '"';
      ++i;
    } else if (letter == '"') {
      quoted = !quoted;
    } else if (letter == separator && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += letter;
    }
  }
  return fields;
}

/// Whether a word, in whichever case, is one of these in lower case.
bool is_among(std::string_view word, Wanted words) { return has_word(words, lower(trimmed(word))); }

bool is_missing_value(std::string_view value) { return is_among(value, {"", "-", "x", "nan", "null", "none", "n/a"}); }

bool is_word_of_failure(std::string_view value) {
  return is_among(value, {"failed", "fail", "failure", "error", "timeout", "timed out", "unreachable"});
}

/// What a sender, or a receiver, may be called.
constexpr auto kSender = std::to_array<std::string_view>({"from", "from_host", "src", "source", "sender", "client"});
constexpr auto kReceiver =
    std::to_array<std::string_view>({"to", "to_host", "dst", "dest", "destination", "receiver", "server"});

/// The unit in a title: `GB/s`, `bandwidth (Gb/s)`, `rate[MiB/s]`, `Gbps`, or our own name.
std::optional<double> unit_in_title(std::string_view title) {
  if (trimmed(title) == "bandwidth_gb_per_s") return 1e9;
  const std::size_t open = title.find_first_of("([");
  if (open == std::string_view::npos) return unit_in(title);
  return unit_in(title.substr(open + 1, title.find_first_of(")]", open) - open - 1));
}

/// The titles of a matrix: what stands in the corner, and hosts.
struct MatrixTitles {
  std::string corner;
  std::vector<std::string> hosts;
  char separator = ',';

  [[nodiscard]] std::size_t place_of(std::string_view host) const { return cluster::place_of(hosts, trimmed(host)); }
};

/// Nothing where a line does not have titles of a matrix.
std::optional<MatrixTitles> titles_in(std::string_view line) {
  MatrixTitles titles;
  titles.separator = csv_separator(line);
  auto fields = csv_fields(line, titles.separator);
  if (fields.size() > 3 && trimmed(fields.back()).empty()) fields.pop_back();
  if (fields.size() < 3) return std::nullopt;
  titles.corner = trimmed(fields.front());
  for (std::size_t i = 1; i < fields.size(); ++i) {
    const std::string_view host = trimmed(fields[i]);
    if (!is_host_name(host) || number_in(host) || titles.place_of(host) < titles.hosts.size()) return std::nullopt;
    titles.hosts.emplace_back(host);
  }
  return titles;
}

/// The first line that is neither empty nor a comment; false at the end.
bool next_line(TextLines& lines) {
  while (lines.next()) {
    if (const std::string_view line = trimmed(lines.line()); !line.empty() && !line.starts_with('#')) return true;
  }
  return false;
}

/// Whether rows receive: the first word of the corner says so, such as in `to\\from`; nothing where it is neither.
std::optional<bool> rows_receive(std::string_view corner) {
  const auto* const end = std::ranges::find_if_not(corner, [](char letter) {
    return letter == '_' || (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
  });
  const std::string_view word = corner.substr(0, static_cast<std::size_t>(end - corner.begin()));
  if (is_among(word, kReceiver)) return true;
  return is_among(word, kSender) ? std::optional(false) : std::nullopt;
}

class CsvMatrixReader {
 public:
  explicit CsvMatrixReader(const ImportSource& source) : source_(source) {}

  Imported read() {
    TextLines lines(source_.text);
    static_cast<void>(next_line(lines));
    titles_ = titles_in(lines.line()).value_or(MatrixTitles());
    const double unit = source_.unit > 0 ? source_.unit : unit_in_title(titles_.corner).value_or(0);
    if (unit == 0) {
      throw UsageError(
          fmt::format("{}:{}: the matrix names no unit; give --unit, or write it into the first field, "
                      "such as from (GB/s)",
                      source_.path, lines.number()));
    }
    const auto receive = rows_receive(titles_.corner);
    turned_ = receive.value_or(false);
    matrix_.hosts = titles_.hosts;
    matrix_.rows.assign(titles_.hosts.size(), std::vector<std::optional<double>>(titles_.hosts.size()));
    matrix_.lines.assign(titles_.hosts.size(), 0);
    const std::int64_t first = lines.number();
    while (next_line(lines)) take_row(lines);
    if (!receive && !is_symmetric(matrix_)) {
      found_.note(first, "its rows are taken for senders; write from or to into the first field to say what they are");
    }
    add_matrix(found_, matrix_, {"csv"}, unit);
    return std::move(found_);
  }

 private:
  void take_row(const TextLines& lines) {
    auto fields = csv_fields(lines.line(), titles_.separator);
    while (fields.size() > titles_.hosts.size() + 1 && trimmed(fields.back()).empty()) fields.pop_back();
    const std::size_t row = titles_.place_of(fields.front());
    if (row == titles_.hosts.size() || fields.size() != titles_.hosts.size() + 1) {
      return found_.lose(lines.number(),
                         fmt::format("'{}' is no row of the matrix, and is left out", one_line(lines.line())));
    }
    for (std::size_t column = 0; column < titles_.hosts.size(); ++column) {
      const auto [from, to] = turned_ ? std::pair(column, row) : std::pair(row, column);
      const std::string_view value = trimmed(fields[column + 1]);
      matrix_.rows[from][to] = number_in(value);
      matrix_.lines[from] = lines.number();
      if (from == to || matrix_.rows[from][to] || is_missing_value(value)) continue;
      if (is_word_of_failure(value)) {
        const Reading reading = found_.between(titles_.hosts[from], titles_.hosts[to], {"csv"});
        found_.add_failed(reading, one_line(value));
      } else {
        found_.lose(lines.number(), fmt::format("'{}' is not a figure, and is left out", one_line(value)));
      }
    }
  }

  const ImportSource& source_;
  Imported found_;
  MatrixTitles titles_;
  HostMatrix matrix_;
  bool turned_ = false;
};

constexpr std::int64_t kMostRounds = std::int64_t{1} << 30;

/// Whether the first line has hosts as titles, and the next one begins with one of them.
bool is_matrix(std::string_view text) {
  TextLines lines(text);
  if (!next_line(lines)) return false;
  const auto titles = titles_in(lines.line());
  if (!titles || !next_line(lines)) return false;
  const auto row = csv_fields(lines.line(), titles->separator);
  return titles->place_of(row.front()) < titles->hosts.size() &&
         std::all_of(row.begin() + 1, row.end(), [](const std::string& value) {
           return number_in(trimmed(value)) || is_missing_value(value) || is_word_of_failure(value);
         });
}

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
  const auto find = [&](Wanted known) -> std::optional<std::size_t> {
    const auto found = std::ranges::find_if(names, [&](const std::string& name) { return is_among(name, known); });
    return found == names.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - names.begin()));
  };
  columns.from = find(kSender);
  columns.to = find(kReceiver);
  columns.test = find({"test"});
  columns.size = find({"size", "size_bytes", "bytes"});
  columns.round = find({"round"});
  columns.from_rail = find({"from_rail", "rail"});
  columns.to_rail = find({"to_rail", "rail"});
  columns.both_ways = find({"both_ways"});
  columns.reason = find({"reason", "error"});
  const auto value = std::ranges::find_if(names, [](const std::string& name) { return is_value(name); });
  if (value != names.end()) {
    columns.value = static_cast<std::size_t>(value - names.begin());
    columns.unit = unit_in_title(*value).value_or(0);
  }
  return columns;
}

std::string field(const std::vector<std::string>& fields, const std::optional<std::size_t>& column) {
  return column ? std::string(trimmed(fields[*column])) : "";
}

class CsvReader {
 public:
  explicit CsvReader(const ImportSource& source) : source_(source) {}

  Imported read() {
    for (TextLines lines(source_.text); next_line(lines);) {
      line_ = lines.number();
      if (columns_) {
        take(csv_fields(lines.line(), separator_));
      } else if (!begin(lines.line())) {
        break;
      }
    }
    return std::move(found_);
  }

 private:
  /// Reads the header line. Returns false, and adds a note, if it names no columns.
  bool begin(std::string_view line) {
    separator_ = csv_separator(line);
    const auto names = csv_fields(line, separator_);
    CsvColumns columns = columns_of(names);
    if (!columns.from || !columns.to || !columns.value) {
      found_.note(
          line_, fmt::format("'{}' does not name columns from, to and a figure, such as from,to,GB/s", one_line(line)));
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

  void take(const std::vector<std::string>& fields) {
    if (fields.size() != fields_) {
      const std::string there = fields.size() == 1 ? "1 field" : fmt::format("{} fields", fields.size());
      return found_.lose(line_, fmt::format("the line has {} instead of {}, and is left out", there, fields_));
    }
    const std::string from = field(fields, columns_->from);
    const std::string to = field(fields, columns_->to);
    for (const std::string& host : {from, to}) {
      if (is_host_name(host)) continue;
      return found_.lose(line_, fmt::format("'{}' is not a host; the line is left out", one_line(host)));
    }
    const std::string test = field(fields, columns_->test);
    const std::string round = field(fields, columns_->round);
    const auto number = integer_in(round);
    if (!round.empty() && (!number || *number < 0 || *number >= kMostRounds)) {
      return found_.lose(line_, fmt::format("'{}' is not a round; the line is left out", one_line(round)));
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
  void add_figure(const Reading& reading, const std::string& value, const std::string& reason) {
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

  const ImportSource& source_;
  Imported found_;
  std::optional<CsvColumns> columns_;
  std::size_t fields_ = 0;
  char separator_ = ',';
  std::int64_t line_ = 0;
};

/// Whether the first line names columns of a sender, a receiver and a figure.
bool names_pairs(std::string_view text) {
  TextLines lines(text);
  if (!next_line(lines)) return false;
  const std::string_view line = trimmed(lines.line());
  const CsvColumns columns = columns_of(csv_fields(line, csv_separator(line)));
  return columns.from && columns.to && columns.value;
}

}  // namespace

Imported read_csv(const ImportSource& source) {
  return is_matrix(source.text) ? CsvMatrixReader(source).read() : CsvReader(source).read();
}

bool is_csv(std::string_view text) { return names_pairs(text) || is_matrix(text); }

}  // namespace fabricbench::cluster
