#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/import/imported.h"
#include "cluster/import/pair_name.h"
#include "cluster/import/text.h"

namespace fabricbench::cluster {
namespace {

/// One of the two tables, as it is printed.
struct MpiGraphTable {
  struct Row {
    std::size_t rank = 0;
    std::vector<std::string_view> cells;
    std::int64_t line = 0;
  };
  bool of_receivers = false;
  std::int64_t line = 0;
  std::vector<std::string> hosts;  ///< by rank
  std::vector<Row> rows;
};

/// The host in a title such as `node01:0`, whose number is the rank, or `node01`; empty if it is no such title.
std::string host_of_title(std::string_view title) {
  const std::size_t colon = title.rfind(':');
  const std::string_view host = title.substr(0, colon);
  const bool is_rank = colon == std::string_view::npos || integer_in(title.substr(colon + 1));
  return is_rank && is_host_name(host) ? std::string(host) : "";
}

/// What the next tab ends. In copies from a terminal, tabs are blanks: there, `to` and the like belong to a title.
std::vector<std::string_view> cells_of(std::string_view line) {
  if (!has(line, "\t")) {
    auto words = words_of(line);
    constexpr std::string_view kOfTitles = " to from max avg min max: avg: min: ";
    if (words.size() > 1 && has(kOfTitles, fmt::format(" {} ", words[1]))) {
      words[0] = line.substr(static_cast<std::size_t>(words[0].data() - line.data()),
                             static_cast<std::size_t>(words[1].data() + words[1].size() - words[0].data()));
      words.erase(words.begin() + 1);
    }
    return words;
  }
  std::vector<std::string_view> cells;
  while (!line.empty()) {
    const std::size_t tab = std::min(line.find('\t'), line.size());
    cells.push_back(trimmed(line.substr(0, tab)));
    line.remove_prefix(std::min(tab + 1, line.size()));
  }
  return cells;
}

std::int64_t first_integer_in(std::string_view text) {
  const auto words = words_of(text);
  return words.empty() ? ImportedKind::kNoSize : integer_in(words[0]).value_or(ImportedKind::kNoSize);
}

class MpiGraphReader {
 public:
  Imported read(std::string_view text) {
    for (TextLines lines(text); lines.next();) take(lines);
    if (tables_.empty()) return std::move(found_);
    add_figures();
    if (!ended_) found_.note(0, "the line END mpiGraph is missing: the run was aborted, or the file is cut off");
    return std::move(found_);
  }

 private:
  void take(const TextLines& lines) {
    const auto cells = cells_of(lines.line());
    if (cells.empty()) return;
    const std::string_view line = trimmed(lines.line());
    ended_ |= line == "END mpiGraph";
    constexpr std::string_view kSizeOfFork = "Msg Size: ";
    if (line.starts_with(kSizeOfFork)) kind_.size_bytes = first_integer_in(line.substr(kSizeOfFork.size()));
    if (cells[0] == "MsgSize" && cells.size() > 1) kind_.size_bytes = first_integer_in(cells[1]);
    if (line.starts_with("Send max: ") && line.ends_with(" MB/s")) unit_ = kMegabyte;  // of the same program
    const bool are_titles = has_any(lines.line(), {"\t", ":"});                        // and no other line of words
    if (are_titles && (cells[0] == "Send" || cells[0] == "Recv") && cells.size() > 1)
      begin_table(lines.number(), cells);
    if (!tables_.empty() && (cells[0].ends_with(" to") || cells[0].ends_with(" from"))) take_row(lines.number(), cells);
  }

  void begin_table(std::int64_t line, const std::vector<std::string_view>& cells) {
    MpiGraphTable table;
    table.of_receivers = cells[0] == "Recv";
    table.line = line;
    for (std::size_t i = 1; i < cells.size(); ++i) {
      if (cells[i].empty()) continue;
      table.hosts.push_back(host_of_title(cells[i]));
      if (table.hosts.back().empty()) {
        found_.note(line, fmt::format("'{}' is not a host and a rank; the table is left out", one_line(cells[i])));
        return;
      }
    }
    tables_.push_back(std::move(table));
  }

  void take_row(std::int64_t line, const std::vector<std::string_view>& cells) {
    MpiGraphTable& table = tables_.back();
    const std::string_view title = trimmed(cells[0].substr(0, cells[0].rfind(' ')));
    std::optional<std::int64_t> rank = integer_in(title.substr(title.rfind(':') + 1));
    if (!has(title, ":")) {  // rows are in the order of ranks
      const auto next =
          table.hosts.begin() + static_cast<std::ptrdiff_t>(std::min(table.rows.size(), table.hosts.size()));
      rank = std::find(next, table.hosts.end(), title) - table.hosts.begin();
    }
    if (!rank || *rank < 0 || static_cast<std::size_t>(*rank) >= table.hosts.size()) {
      found_.note(line, fmt::format("'{}' is not a rank of the table; the row is left out", one_line(title)));
      return;
    }
    table.rows.push_back({static_cast<std::size_t>(*rank), {cells.begin() + 1, cells.end()}, line});
  }

  void add_figures() {
    // Both tables are of the same messages: the receivers' table takes precedence.
    std::ranges::stable_sort(
        tables_, [](const MpiGraphTable& a, const MpiGraphTable& b) { return a.of_receivers && !b.of_receivers; });
    const MpiGraphTable& first = tables_.front();
    const Endpoints ranks(first.hosts);
    ranks.add_hosts(found_);
    found_.rounds_are_known = true;
    std::vector<char> known(ranks.size() * ranks.size(), 0);
    for (const MpiGraphTable& table : tables_) {
      if (table.hosts != first.hosts) {
        found_.note(table.line,
                    fmt::format("the table has other hosts than that of line {}, and is left out", first.line));
        continue;
      }
      for (const MpiGraphTable::Row& row : table.rows) add_row(table, ranks, row, known);
    }
  }

  void add_row(const MpiGraphTable& table, const Endpoints& ranks, const MpiGraphTable::Row& row,
               std::vector<char>& known) {
    std::size_t cells = row.cells.size();
    while (cells > ranks.size() && row.cells[cells - 1].empty()) --cells;
    if (cells != ranks.size()) {
      found_.note(row.line, fmt::format("the row has {} figures for {} ranks", cells, ranks.size()));
    }
    for (std::size_t other = 0; other < std::min(cells, ranks.size()); ++other) {
      const auto [from, to] = table.of_receivers ? std::pair(other, row.rank) : std::pair(row.rank, other);
      if (from == to || known[from * ranks.size() + to] != 0) continue;
      const auto figure = number_in(row.cells[other]);
      if (!figure) {
        found_.note(row.line, fmt::format("'{}' is not a figure, and is left out", one_line(row.cells[other])));
        continue;
      }
      known[from * ranks.size() + to] = 1;
      Reading reading = ranks.between(found_, from, to, kind_);
      // In step D each rank r sends to rank r + D.
      reading.round = static_cast<std::int32_t>((to + ranks.size() - from) % ranks.size()) - 1;
      reading.concurrent = static_cast<std::int32_t>(ranks.size());
      found_.add(reading, *figure * unit_, row.line);
    }
  }

  Imported found_;
  ImportedKind kind_{"mpiGraph", ImportedKind::kNoSize};
  std::vector<MpiGraphTable> tables_;
  double unit_ = kMebibyte;
  bool ended_ = false;
};

}  // namespace

Imported read_mpigraph(const ImportSource& source) { return MpiGraphReader().read(source.text); }

}  // namespace fabricbench::cluster
