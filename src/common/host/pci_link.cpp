#include "common/host/pci.h"

#include <charconv>
#include <string>
#include <system_error>

#include "common/host/files.h"

namespace fabricbench::host {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLanes = 32;  // sysfs writes 255 for a width that the kernel does not know

/// The number of `32.0 GT/s PCIe`; nothing for `Unknown`.
std::optional<double> speed_in(const fs::path& file) {
  const auto line = read_first_line(file);
  if (!line || line->find("GT/s") == std::string::npos) return std::nullopt;
  double speed = 0;
  const auto [stop, error] = std::from_chars(line->data(), line->data() + line->size(), speed);
  return error == std::errc{} && speed > 0 ? std::optional(speed) : std::nullopt;
}

/// `which` is `current` or `max`.
std::optional<PciLink> link_of(const fs::path& device, const std::string& which) {
  const auto speed = speed_in(device / (which + "_link_speed"));
  const auto width = read_integer<int>(device / (which + "_link_width"));
  if (!speed || !width || *width < 1 || *width > kMostLanes) return std::nullopt;
  return PciLink{*speed, *width};
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
