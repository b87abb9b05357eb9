#include "cluster/import/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace fabricbench::cluster {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\v\f";
constexpr std::size_t kLongestLine = 240;

template <typename Number>
std::optional<Number> all_of(std::string_view text) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  Number number{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

bool take(std::string_view& text, std::string_view beginning) {
  if (!text.starts_with(beginning)) return false;
  text.remove_prefix(beginning.size());
  return true;
}

/// What stands for bits or bytes in front of the time: bytes of it.
std::optional<double> bytes_of_word(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, double>, 7> kWords = {
      {{"B", 1}, {"Byte", 1}, {"Bytes", 1}, {"b", kBit}, {"bit", kBit}, {"bits", kBit}, {"Bits", kBit}}};
  for (const auto& [name, bytes] : kWords) {
    if (word == name) return bytes;
  }
  return std::nullopt;
}

/// The place behind the object that begins at `begin`, or the end of the text.
std::size_t end_of_object(std::string_view text, std::size_t begin) {
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t i = begin; i < text.size(); ++i) {
    const char letter = text[i];
    if (quoted && letter == '\\') {
      ++i;
    } else if (letter == '"') {
      quoted = !quoted;
    } else if (!quoted && letter == '{') {
      ++depth;
    } else if (!quoted && letter == '}' && --depth == 0) {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

}  // namespace

bool TextLines::next() {
  if (rest_.empty()) return false;
  const std::size_t end = rest_.find('\n');
  offset_ = text_.size() - rest_.size();
  line_ = rest_.substr(0, end);
  rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
  whole_ = end != std::string_view::npos;
  if (line_.ends_with('\r')) line_.remove_suffix(1);
  ++number_;
  return true;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t begin = line.find_first_not_of(kBlanks); begin != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(kBlanks, begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(kBlanks, end);
  }
  return words;
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool has_any(std::string_view text, Wanted parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return has(text, part); });
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& letter : result) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return result;
}

std::optional<double> number_in(std::string_view text) {
  const std::optional<double> number = all_of<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::optional<std::int64_t> integer_in(std::string_view text) { return all_of<std::int64_t>(text); }

std::optional<double> unit_in(std::string_view text) {
  text = trimmed(text);
  const bool by_convention = text == "gbps" || text == "mbps";
  const std::string capital = by_convention ? std::string(text == "gbps" ? "Gbps" : "Mbps") : std::string(text);
  std::string_view rest = capital;
  bool has_time = false;
  for (const std::string_view time : {"/sec", "/s", "ps"}) {
    if (has_time || !rest.ends_with(time)) continue;
    rest.remove_suffix(time.size());
    has_time = true;
  }
  if (!has_time) return std::nullopt;
  double factor = 1;
  constexpr std::string_view kPrefixes = "KMGT";
  const std::size_t power =
      rest.empty() ? std::string_view::npos : kPrefixes.find(rest.front() == 'k' ? 'K' : rest.front());
  if (power != std::string_view::npos) {
    rest.remove_prefix(1);
    factor = std::pow(take(rest, "i") ? 1024.0 : 1000.0, static_cast<double>(power + 1));
  }
  const std::optional<double> bytes = bytes_of_word(rest);
  return bytes ? std::optional<double>(*bytes * factor) : std::nullopt;
}

std::string one_line(std::string_view text) {
  std::string line(trimmed(text.substr(0, kLongestLine)));
  for (char& letter : line) {
    const auto code = static_cast<unsigned char>(letter);
    if (code < ' ' || code == 127) letter = ' ';
    if (code > 127) letter = '?';  // a log may be of any encoding, and be cut anywhere
  }
  return line;
}

std::vector<JsonDocument> json_documents(std::string_view text) {
  std::vector<JsonDocument> all;
  for (std::size_t begin = text.find('{'); begin != std::string_view::npos;) {
    const std::size_t end = end_of_object(text, begin);
    all.push_back({text.substr(begin, end - begin), begin, end != std::string_view::npos});
    begin = text.find('{', std::min(end, text.size()));
  }
  return all;
}

}  // namespace fabricbench::cluster
