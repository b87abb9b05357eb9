// The NVLinks of a GPU, as NVIDIA's management library reports them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/core/ownership.h"

namespace fabricbench::nvml {

/// An active NVLink.
struct NvLink {
  double bytes_per_s = 0;  ///< in one direction
  bool to_switch = false;
  std::string remote;  ///< PCI address of the GPU at its other end, in sysfs form; empty if the other end is not a GPU
};

/// The NVLink bandwidth from one GPU to another in bytes per second: the direct links, plus the bandwidth that both
/// ends have to switches. 0 if there is none. `into` is the second GPU's PCI address.
[[nodiscard]] double nvlink_bytes_per_s(const std::vector<NvLink>& of_from, const std::vector<NvLink>& of_into,
                                        const std::string& into);

/// libnvidia-ml, loaded at run time; it comes with the driver.
class Library : NotCopied {
 public:
  /// Throws Error (missing) if it is missing or does not work.
  explicit Library(const std::string& file = "libnvidia-ml.so.1");
  ~Library();

  /// A GPU's active links; none for a GPU without NVLink. Empty optional if the driver does not report them or their
  /// speeds. `pci_address` is in sysfs form, `0000:42:00.0`. Source: nvmlDeviceGetNvLinkState,
  /// nvmlDeviceGetNvLinkRemoteDeviceType, nvmlDeviceGetNvLinkRemotePciInfo_v2 and NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON
  /// of the NVML API reference.
  [[nodiscard]] std::optional<std::vector<NvLink>> links(const std::string& pci_address) const;

 private:
  struct Loaded;
  std::unique_ptr<Loaded> loaded_;
};

}  // namespace fabricbench::nvml
