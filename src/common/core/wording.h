/// How lists and numbers are written in sentences.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fabricbench {

/// Ascending numbers as ranges: `0-3, 8`.
[[nodiscard]] inline std::string folded(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t begin = 0; begin < numbers.size();) {
    std::size_t end = begin;
    while (end + 1 < numbers.size() && numbers[end + 1] == numbers[end] + 1) ++end;
    if (!text.empty()) text += ", ";
    text += end == begin ? fmt::format("{}", numbers[begin]) : fmt::format("{}-{}", numbers[begin], numbers[end]);
    begin = end + 1;
  }
  return text;
}

/// `a`, `a and b`, `a, b and c`; empty if there are none.
[[nodiscard]] inline std::string enumerated(std::vector<std::string> words) {
  if (words.empty()) return "";
  const std::string last = std::move(words.back());
  words.pop_back();
  return words.empty() ? last : fmt::format("{} and {}", fmt::join(words, ", "), last);
}

/// `1 rank`, `2 ranks`, `2 leaves`.
template <std::integral Number>
[[nodiscard]] std::string counted(Number number, std::string_view noun) {
  constexpr std::string_view kLeaf = "leaf";
  if (number != 1 && noun.ends_with(kLeaf))
    return fmt::format("{} {}leaves", number, noun.substr(0, noun.size() - kLeaf.size()));
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

/// Of figures that were taken while ranks waited for a processor for this share of the time.
[[nodiscard]] inline std::string waited_text(double share) {
  return fmt::format("ranks waited for a processor {:.0f} % of the time: these are not figures of the network",
                     100 * share);
}

/// A note on such figures. `which`: of them all.
[[nodiscard]] inline std::string waited_note(std::string_view which, double share) {
  return fmt::format("In {} {}; run fewer ranks than processors, on a host without other work", which,
                     waited_text(share));
}

/// A share in percent: `50 %`.
[[nodiscard]] inline std::string percent_text(double share) { return fmt::format("{:.0f} %", 100 * share); }

/// Such as `1,234,567`.
[[nodiscard]] inline std::string with_commas(std::uint64_t number) {
  std::string text = fmt::format("{}", number);
  for (std::size_t digits = 3; digits < text.size(); digits += 4) text.insert(text.size() - digits, ",");
  return text;
}

/// The first `most` lines, followed by a count of the rest: `and 3 more ranks`, where `what` is `more ranks`.
[[nodiscard]] inline std::vector<std::string> shortened(std::vector<std::string> lines, std::size_t most,
                                                        std::string_view what) {
  if (lines.size() <= most) return lines;
  const std::size_t more = lines.size() - most;
  lines.resize(most);
  lines.push_back(fmt::format("and {} {}", more, what));
  return lines;
}

/// The words of `text` in lines of at most `columns`; a longer word has a line of its own.
[[nodiscard]] inline std::vector<std::string> wrapped(const std::string& text, std::size_t columns) {
  std::vector<std::string> lines(1);
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > columns) lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
  }
  return lines;
}

}  // namespace fabricbench
