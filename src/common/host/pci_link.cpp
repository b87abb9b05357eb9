#include "common/host/pci.h"

#include <string>
#include <system_error>

#include "common/host/files.h"

namespace fabricbench::host {
namespace {

namespace fs = std::filesystem;

/// `which` is `current` or `max`.
std::optional<PciLink> link_of(const fs::path& device, const std::string& which) {
  const auto speed = link_speed_in(read_first_line(device / (which + "_link_speed")).value_or(""));
  const auto width = link_width_in(read_first_line(device / (which + "_link_width")).value_or(""));
  return speed && width ? std::optional(PciLink{*speed, *width}) : std::nullopt;
}

}  // namespace

PciLinks pci_links(std::string_view address, const fs::path& root) {
  std::error_code error;
  fs::path device = fs::canonical(root / "sys/bus/pci/devices" / address, error);
  PciLinks links;
  if (error) return links;
  links.current = link_of(device, "current");
  links.most = link_of(device, "max");
  // What is above a device in its path are the bridges; the host bridge, `pci0000:40`, has no link.
  for (; !device.filename().string().starts_with("pci") && device.has_relative_path(); device = device.parent_path()) {
    const auto link = link_of(device, "current");
    if (link && (!links.narrowest || bytes_per_second(*link) < bytes_per_second(*links.narrowest)))
      links.narrowest = link;
  }
  return links;
}

}  // namespace fabricbench::host
