#include "common/host/pci_path.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <system_error>

namespace fabricbench::host {
namespace {

/// `0000:42:00.0`, of any domain.
bool is_pci_address(const std::string& name) {
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  unsigned function = 0;
  int length = 0;
  return std::sscanf(name.c_str(), "%x:%2x:%2x.%1x%n", &domain, &bus, &device, &function, &length) == 4 &&
         static_cast<std::size_t>(length) == name.size();
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

std::size_t shared_length(const PciPath& one, const PciPath& other) {
  const auto parted = std::mismatch(one.begin(), one.end(), other.begin(), other.end()).first;
  return static_cast<std::size_t>(std::distance(one.begin(), parted));
}

}  // namespace fabricbench::host
