/// How fast the PCI Express links of a device run, from sysfs: hwloc has one figure for a link, what it carries now,
/// and neither its width nor what its ends can do. `root` is the directory that stands for `/`.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace fabricbench::host {

/// One link: transfers per second and lane, and number of lanes.
struct PciLink {
  double gigatransfers_per_s = 0;
  int width = 0;

  friend bool operator==(const PciLink&, const PciLink&) = default;
};

/// What a link carries in one direction, in bytes per second: transfers x lanes x the share that its encoding leaves to
/// packets, whose headers take a part of it too. Encodings: 8 of 10 bits at 2.5 and 5 GT/s, 128 of 130 from 8 to
/// 32 GT/s, 236 of 256 bytes of a flit at 64 GT/s and above.
/// Source: PCI Express Base Specification 6.0, sections 4.2.1, 4.2.2 and 4.2.3.
[[nodiscard]] constexpr double bytes_per_second(const PciLink& link) {
  const double share = link.gigatransfers_per_s < 8 ? 0.8 : link.gigatransfers_per_s < 64 ? 128.0 / 130 : 236.0 / 256;
  return link.gigatransfers_per_s * 1e9 * link.width * share / 8;
}

struct PciLinks {
  std::optional<PciLink> current;    ///< of the device now; idle GPUs lower the speed
  std::optional<PciLink> most;       ///< the maximum of the device
  std::optional<PciLink> narrowest;  ///< the slowest link now, from the device up to the host bridge
};

/// `address` is in sysfs form, `0000:42:00.0`. Values that cannot be read or that the kernel does not know, as in many
/// virtual machines, are left out without an exception. Source: current_link_speed, current_link_width, max_link_speed
/// and max_link_width of Documentation/ABI/testing/sysfs-bus-pci of Linux.
[[nodiscard]] PciLinks pci_links(std::string_view address, const std::filesystem::path& root = "/");

}  // namespace fabricbench::host
