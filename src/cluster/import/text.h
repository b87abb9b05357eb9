// Lines, words, numbers and units of other programs' output.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fabricbench::cluster {

/// Goes through a text line by line, whichever way lines end.
class TextLines {
 public:
  explicit TextLines(std::string_view text) : text_(text), rest_(text) {}

  /// False at the end of the text.
  [[nodiscard]] bool next();
  [[nodiscard]] std::string_view line() const { return line_; }
  [[nodiscard]] std::int64_t number() const { return number_; }  ///< from 1
  [[nodiscard]] bool is_whole() const { return whole_; }         ///< false of a last line that nothing ends
  [[nodiscard]] std::size_t begin() const { return offset_; }    ///< of the line, in the text
  [[nodiscard]] std::size_t end() const { return text_.size() - rest_.size(); }  ///< of the line, with what ends it

 private:
  std::string_view text_;
  std::string_view rest_;
  std::string_view line_;
  std::size_t offset_ = 0;
  std::int64_t number_ = 0;
  bool whole_ = true;
};

[[nodiscard]] inline bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }
[[nodiscard]] std::string_view trimmed(std::string_view text);

/// What stands between blanks and tabs.
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view line);

/// Words that a text is searched for; only for parameters, since it does not keep them.
class Wanted : public std::span<const std::string_view> {
 public:
  using span::span;
  Wanted(std::initializer_list<std::string_view> words) : span(words.begin(), words.size()) {}
};

[[nodiscard]] bool has(std::string_view text, std::string_view part);
[[nodiscard]] bool has_any(std::string_view text, Wanted parts);

/// The place of a word or a title, or their number where it is not among them.
template <typename Words>
[[nodiscard]] std::size_t place_of(const Words& words, std::string_view word) {
  return static_cast<std::size_t>(std::ranges::find(words, word) - words.begin());
}
template <typename Words>
[[nodiscard]] bool has_word(const Words& words, std::string_view word) {
  return place_of(words, word) < words.size();
}
[[nodiscard]] std::string lower(std::string_view text);

/// All of the text as a number, or nothing. `nan` and `inf` are none.
[[nodiscard]] std::optional<double> number_in(std::string_view text);
[[nodiscard]] std::optional<std::int64_t> integer_in(std::string_view text);

/// Bytes per second of 1 of a unit, or nothing where it is none, or could be two: `GB/s`, `Gb/s`, `MiB/s`, `Gbit/s`,
/// `Mbits/sec`, `Gbps`. K, M, G and T are powers of 1000, and of 1024 before `i`. Bytes have a capital B: `gb/s` is
/// unclear, but for `gbps` and `mbps`, which are bits.
[[nodiscard]] std::optional<double> unit_in(std::string_view text);

/// One line for people of at most some hundred bytes, printable ASCII.
[[nodiscard]] std::string one_line(std::string_view text);

/// Bytes and seconds of the units of other programs, which do not always mean the unit that they print.
inline constexpr double kBit = 0.125;
inline constexpr double kGigabit = 1e9 * kBit;
inline constexpr double kMegabyte = 1e6;
inline constexpr double kMebibyte = 1048576;
inline constexpr double kGigabyte = 1e9;
inline constexpr double kMicrosecond = 1e-6;

/// One JSON object among others in a text, such as a file to which each run has added one.
struct JsonDocument {
  std::string_view text;
  std::size_t begin = 0;  ///< in the text
  bool is_whole = true;   ///< false: the text ends within it
};

/// The outermost objects of a text, whatever stands between them.
[[nodiscard]] std::vector<JsonDocument> json_documents(std::string_view text);

}  // namespace fabricbench::cluster
