#include "common/core/plain_text.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

namespace fabricbench {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// A character and its bytes; invalid UTF-8 counts as one byte.
struct Character {
  std::size_t bytes = 1;
  bool is_valid = false;
  std::uint32_t point = 0;
};

/// The number of continuation bytes after a first byte; 4 if it is not a valid first byte.
std::size_t bytes_after(unsigned char first) {
  if (first < 0x80) return 0;
  if (first < 0xC2) return 4;
  if (first < 0xE0) return 1;
  if (first < 0xF0) return 2;
  return first < 0xF5 ? 3 : 4;
}

Character first_of(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t more = bytes_after(first);
  if (more == 0) return {1, true, first};
  if (more == 4 || text.size() <= more) return {};
  std::uint32_t point = first & (0x3FU >> more);
  for (const char each : text.substr(1, more)) {
    const auto byte = static_cast<unsigned char>(each);
    if ((byte & 0xC0U) != 0x80) return {};
    point = (point << 6U) | (byte & 0x3FU);
  }
  const bool is_longer_than_needed = (more == 2 && point < 0x800) || (more == 3 && point < 0x10000);
  const bool is_surrogate = point >= 0xD800 && point < 0xE000;
  if (is_longer_than_needed || is_surrogate || point > 0x10FFFF) return {};
  return {more + 1, true, point};
}

bool is_harmless(const Character& character) {
  const auto within = [&](std::uint32_t first, std::uint32_t last) {
    return character.point >= first && character.point <= last;
  };
  return character.is_valid && !within(0, 0x1F) && !within(0x7F, 0x9F) && !within(0x200B, 0x200F) &&
         !within(0x2028, 0x202E) && !within(0x2060, 0x206F) && character.point != 0xFEFF;
}

std::string with_only(bool (*is_kept)(const Character&), std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const Character character = first_of(text);
    clean += is_kept(character) ? text.substr(0, character.bytes) : kReplacement;
    text.remove_prefix(character.bytes);
  }
  return clean;
}

bool is_safe_in_a_shell(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9') ||
         std::string_view("_./:@%+=-").find(character) != std::string_view::npos;
}

bool is_plain(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9');
}

bool has_letter_or_digit(std::string_view name) { return std::any_of(name.begin(), name.end(), is_plain); }

std::string fault_of(std::string_view name, std::string_view others, const char* whose) {
  if (name.empty()) return fmt::format("has no {} name in it", whose);
  if (name.size() > kLongestHostName) {
    return fmt::format("has a {} name of more than {} characters", whose, kLongestHostName);
  }
  if (name.front() == '-') return fmt::format("has a {} name that begins with '-', as options do", whose);
  const auto* const odd = std::find_if(name.begin(), name.end(), [&](char character) {
    return !is_plain(character) && others.find(character) == std::string_view::npos;
  });
  if (odd != name.end()) {
    return fmt::format("has '{}', which cannot be in a {} name", printable(std::string_view(odd, 1)), whose);
  }
  if (!has_letter_or_digit(name)) return fmt::format("has a {} name without a letter or digit", whose);
  const bool is_ipv6 = name.find(':') != std::string_view::npos;
  return is_ipv6 || name.find('%') == std::string_view::npos ? "" : "has '%', which belongs to IPv6 addresses only";
}

}  // namespace

std::string printable(std::string_view text) { return with_only(is_harmless, text); }

std::string as_utf8(std::string_view text) {
  return with_only([](const Character& character) { return character.is_valid; }, text);
}

std::string cut_short(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  const std::size_t left = text.size() - most;
  return fmt::format("{} [{} bytes left out] {}", text.substr(0, most / 2), left, text.substr(most / 2 + left));
}

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

std::string fault_of_encoding(std::string_view beginning) {
  const auto has_mark = [&](std::string_view mark) { return beginning.starts_with(mark); };
  const bool is_half_zero = beginning.size() > 1 && (beginning[0] == '\0') != (beginning[1] == '\0');
  if (has_mark("\xFF\xFE") || has_mark("\xFE\xFF") || is_half_zero) {
    return "is UTF-16, as PowerShell and some editors write; convert it with 'iconv -f UTF-16 -t UTF-8'";
  }
  if (has_mark("\x1F\x8B")) return "is compressed; unpack it with gunzip";
  return beginning.find('\0') != std::string_view::npos ? "is no text: it has bytes of 0" : "";
}

std::string shell_word(std::string_view text) {
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_safe_in_a_shell)) return std::string(text);
  std::string word = "'";
  for (const char character : text) {
    if (character == '\'') {
      word += "'\\''";
    } else {
      word += character;
    }
  }
  return word + "'";
}

std::string fault_of_host_name(std::string_view name) {
  const std::size_t at = name.find('@');
  if (at == std::string_view::npos) return fault_of(name, kInHostNames, "host's");
  std::string fault = fault_of(name.substr(0, at), kInUserNames, "user's");
  return fault.empty() ? fault_of(name.substr(at + 1), kInHostNames, "host's") : fault;
}

std::string as_host_name(std::string_view name) {
  if (fault_of_host_name(name).empty()) return std::string(name);
  std::string text(name.substr(0, kLongestHostName - 1));
  const bool is_ipv6 = text.find(':') != std::string::npos;
  for (char& character : text) {
    const bool is_allowed = kInHostNames.find(character) != std::string_view::npos && (is_ipv6 || character != '%');
    if (!is_plain(character) && !is_allowed) character = '_';
  }
  if (!has_letter_or_digit(text)) text.insert(0, 1, 'x');
  if (text.front() == '-') text.front() = '_';
  return text;
}

}  // namespace fabricbench
