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

std::string fault_of(std::string_view name, std::string_view others, const char* whose) {
  if (name.empty()) return fmt::format("has no {} name in it", whose);
  if (name.front() == '-') return fmt::format("has a {} name that begins with '-', as options do", whose);
  const auto* const odd = std::find_if(name.begin(), name.end(), [&](char character) {
    return !is_plain(character) && others.find(character) == std::string_view::npos;
  });
  if (odd == name.end()) return "";
  return fmt::format("has '{}', which cannot be in a {} name", printable(std::string_view(odd, 1)), whose);
}

}  // namespace

std::string fault_of_host_name(std::string_view name) {
  const std::size_t at = name.find('@');
  if (at == std::string_view::npos) return fault_of(name, kInHostNames, "host's");
  std::string fault = fault_of(name.substr(0, at), kInUserNames, "user's");
  return fault.empty() ? fault_of(name.substr(at + 1), kInHostNames, "host's") : fault;
}

std::string as_host_name(std::string_view name) {
  std::string text(name);
  if (fault_of_host_name(name).empty()) return text;
  for (char& character : text) {
    if (!is_plain(character) && kInHostNames.find(character) == std::string_view::npos) character = '_';
  }
  if (text.empty() || text.front() == '-') text.insert(0, 1, '_');
  return text;
}

}  // namespace fabricbench
