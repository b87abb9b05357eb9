#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/import/csv_lines.h"
#include "cluster/import/endpoints.h"
#include "cluster/import/pair_name.h"
#include "cluster/import/readers.h"
#include "cluster/import/text.h"
#include "common/core/error.h"

namespace fabricbench::cluster {
namespace {

/// The titles of a matrix: what stands in the corner, and hosts.
struct MatrixTitles {
  std::string corner;
  std::vector<std::string> hosts;
  char separator = ',';

  [[nodiscard]] std::size_t place_of(std::string_view host) const {
    return static_cast<std::size_t>(std::find(hosts.begin(), hosts.end(), trimmed(host)) - hosts.begin());
  }
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
  const auto* const end = std::find_if_not(corner.begin(), corner.end(), [](char letter) {
    return letter == '_' || (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
  });
  const std::string_view word = corner.substr(0, static_cast<std::size_t>(end - corner.begin()));
  if (is_among(word, words_for_receiver())) return true;
  return is_among(word, words_for_sender()) ? std::optional(false) : std::nullopt;
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

}  // namespace

Imported read_csv_matrix(const ImportSource& source) { return CsvMatrixReader(source).read(); }

bool is_csv_matrix(std::string_view text) {
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

}  // namespace fabricbench::cluster
