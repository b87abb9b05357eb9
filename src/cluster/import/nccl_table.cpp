#include "cluster/import/nccl_table.h"

#include <algorithm>
#include <array>
#include <utility>

#include "cluster/import/text.h"

namespace fabricbench::cluster {
namespace {

/// What stands in the place of a figure that there is not: not run, not checked, or of a time that rounds to 0.
bool is_no_figure(std::string_view word) {
  constexpr std::array<std::string_view, 4> kWords = {"N/A", "inf", "nan", "-nan"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

/// Whether the word is of a column of figures; sets the figure.
bool take_figure(std::string_view word, std::optional<double>& figure) {
  figure = number_in(word);
  return figure || is_no_figure(word);
}

/// Takes a value of the columns in front of the figures; false where it is none of the column.
bool take_setting(std::string_view title, std::string_view word, NcclTableRow& row) {
  if (title == "type") row.type = word;
  if (title == "redop" && word != "none") row.redop = word;
  if (title != "size" && title != "count" && title != "root") return true;
  const std::optional<std::int64_t> number = integer_in(word);
  if (title == "size") row.size = number.value_or(0);
  if (title == "count") row.count = number.value_or(0);
  if (title == "root") row.root = number;
  return number.has_value();
}

/// Takes a value of a column of figures, of which others than these are passed over.
bool take_value(std::string_view title, std::string_view word, NcclFigures& figures) {
  std::optional<double> other;
  if (title == "time") return take_figure(word, figures.time_us);
  if (title == "algbw") return take_figure(word, figures.algbw);
  if (title == "busbw") return take_figure(word, figures.busbw);
  if (title != "cputime" && title != "#wrong") return true;
  if (!take_figure(word, other)) return false;
  if (title == "#wrong" && other && *other > 0) figures.wrong = word;
  return true;
}

}  // namespace

void NcclTable::take_comment(std::string_view line) {
  const std::vector<std::string_view> words = words_of(line.substr(line.starts_with('#') ? 1 : 0));
  const auto says = [&](std::string_view word) { return std::find(words.begin(), words.end(), word) != words.end(); };
  if (says("in-place") || says("out-of-place")) {
    next_in_place_.clear();
    for (const std::string_view word : words) {
      if (word == "in-place" || word == "out-of-place") next_in_place_.push_back(word == "in-place");
    }
  } else if (!words.empty() && words.front() == "size" && says("busbw")) {
    titles_.assign(words.begin(), words.end());
    in_place_ = std::exchange(next_in_place_, {});
  }
}

bool NcclTable::is_row(std::string_view line) const {
  const std::vector<std::string_view> words = words_of(line);
  return has_titles() && !words.empty() && integer_in(words.front()) && !has(line, " SKIP ");
}

/// A word for each title; empty where these are not as many. The reduction of hypercube is blank, and a timestamp has
/// two words.
std::vector<std::string_view> NcclTable::cells(std::string_view line) const {
  constexpr std::size_t kTimestamp = 19;  // letters
  std::vector<std::string_view> words = words_of(line);
  const auto place_of = [&](std::string_view title) {
    return static_cast<std::size_t>(std::find(titles_.begin(), titles_.end(), title) - titles_.begin());
  };
  const std::size_t timestamp = place_of("timestamp");
  const std::size_t redop = place_of("redop");
  const std::size_t wanted = titles_.size() + (timestamp < titles_.size() ? 1 : 0);
  if (words.size() + 1 == wanted && redop < words.size() && place_of("root") == redop + 1 && integer_in(words[redop])) {
    words.insert(words.begin() + static_cast<std::ptrdiff_t>(redop), "");
  }
  if (words.size() != wanted) return {};
  if (timestamp < titles_.size()) {
    const std::string_view day = words[timestamp];
    const std::string_view time = words[timestamp + 1];
    if (day.size() + 1 + time.size() != kTimestamp) return {};
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(timestamp) + 1);
  }
  return words;
}

std::optional<NcclTableRow> NcclTable::row(std::string_view line) const {
  const std::vector<std::string_view> words = cells(line);
  if (words.empty()) return std::nullopt;
  NcclTableRow row;
  for (std::size_t i = 0; i < titles_.size(); ++i) {
    const std::string& title = titles_[i];
    if (title == "time" || title == "cputime") {
      const std::size_t place = row.placements.size();
      row.placements.emplace_back().in_place = place < in_place_.size() ? in_place_[place] : place > 0;
    }
    const bool is_its_value = row.placements.empty() ? take_setting(title, words[i], row)
                                                     : take_value(title, words[i], row.placements.back());
    if (!is_its_value) return std::nullopt;
  }
  return row.placements.empty() ? std::nullopt : std::optional(std::move(row));
}

}  // namespace fabricbench::cluster
