#include "common/core/host_names.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/core/plain_text.h"

namespace fabricbench {
namespace {

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
