#include "common/core/split.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "common/core/error.h"

namespace fabricbench {
namespace {

struct Spelling {
  std::string_view word;
  Split::Rule rule;
};
constexpr std::array<Spelling, 8> kSpellings = {{{"AND", Split::Rule::kAnd},
                                                 {"OR", Split::Rule::kOr},
                                                 {"MOD", Split::Rule::kModulo},
                                                 {"DIV", Split::Rule::kDivide},
                                                 {"&", Split::Rule::kAnd},
                                                 {"|", Split::Rule::kOr},
                                                 {"%", Split::Rule::kModulo},
                                                 {"/", Split::Rule::kDivide}}};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

bool begins_with(std::string_view text, std::string_view word) {
  const auto same = [](char a, char b) { return std::toupper(static_cast<unsigned char>(a)) == b; };
  return text.size() >= word.size() &&
         std::equal(word.begin(), word.end(), text.begin(), [&](char b, char a) { return same(a, b); });
}

std::optional<std::uint64_t> number(std::string_view text) {
  int base = 10;
  if (begins_with(text, "0X")) base = 16;
  if (begins_with(text, "0B")) base = 2;
  if (base != 10) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (problem != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

}  // namespace

std::uint64_t Split::colour(std::uint64_t process) const {
  switch (rule) {
    case Rule::kAnd: return process & operand;
    case Rule::kOr: return process | operand;
    case Rule::kModulo: return process % operand;
    case Rule::kDivide: break;
  }
  return process / operand;
}

std::string Split::text() const {
  return fmt::format("{} {}", kSpellings[static_cast<std::size_t>(rule)].word, operand);
}

Split parse_split(std::string_view text) {
  const std::string_view trimmed_text = trimmed(text);
  for (const auto& [word, rule] : kSpellings) {
    if (!begins_with(trimmed_text, word)) continue;
    const auto operand = number(trimmed(trimmed_text.substr(word.size())));
    if (!operand) break;
    if (*operand == 0 && (rule == Split::Rule::kModulo || rule == Split::Rule::kDivide)) {
      throw UsageError(fmt::format("--split '{}' divides by 0; give a number from 1 on", text));
    }
    return {rule, *operand};
  }
  throw UsageError(fmt::format(
      "'{}' is not a rule for --split; write AND, OR, MOD or DIV and a number, such as 'MOD 2' or 'AND 0x7'", text));
}

}  // namespace fabricbench
