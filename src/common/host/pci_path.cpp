#include "common/host/pci_path.h"

#include <string_view>
#include <system_error>

namespace fabricbench::host {
namespace {

bool is_hexadecimal(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// `0000:42:00.0`, of any domain.
bool is_pci_address(std::string_view name) {
  const auto first = name.find(':');
  if (first == std::string_view::npos || name.size() != first + 8) return false;
  return is_hexadecimal(name.substr(0, first)) && is_hexadecimal(name.substr(first + 1, 2)) && name[first + 3] == ':' &&
         is_hexadecimal(name.substr(first + 4, 2)) && name[first + 6] == '.';
}

}  // namespace

PciPath pci_path(const std::filesystem::path& link) {
  std::error_code error;
  const std::filesystem::path device = std::filesystem::canonical(link, error);
  PciPath path;
  if (error) return path;
  for (const std::filesystem::path& part : device) {
    const std::string name = part.string();
    if ((name.starts_with("pci") && name.find(':') != std::string::npos) || (!path.empty() && is_pci_address(name)))
      path.push_back(name);
  }
  return path;
}

}  // namespace fabricbench::host
