// The NVLinks of a GPU, as NVIDIA's management library tells of them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fabricbench::nvml {

/// One NVLink that is up.
struct NvLink {
  double bytes_per_s = 0;  ///< in one direction
  bool to_switch = false;
  std::string remote;  ///< the PCI address of the GPU at its other end, as sysfs writes it; empty where it is no GPU
};

/// What NVLink carries from one GPU to another, in bytes per second: the links between them, and as much through
/// switches as both ends have links to such. 0 where they have none. `into` is the second one's PCI address.
[[nodiscard]] double nvlink_bytes_per_s(const std::vector<NvLink>& of_from, const std::vector<NvLink>& of_into,
                                        const std::string& into);

/// libnvidia-ml, loaded at run time: it comes with the driver.
class Library {
 public:
  /// Throws Error (missing) where it is not there or does not work.
  explicit Library(const std::string& file = "libnvidia-ml.so.1");
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library();

  /// Those of a GPU that are up; none of a GPU without. Nothing where the driver does not tell, such as of speeds.
  /// `pci_address` is as sysfs writes it, `0000:42:00.0`.
  /// Source: nvmlDeviceGetNvLinkState, nvmlDeviceGetNvLinkRemoteDeviceType, nvmlDeviceGetNvLinkRemotePciInfo_v2 and
  /// NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON of the NVML API reference.
  [[nodiscard]] std::optional<std::vector<NvLink>> links(const std::string& pci_address) const;

 private:
  struct Loaded;
  std::unique_ptr<Loaded> loaded_;
};

}  // namespace fabricbench::nvml
