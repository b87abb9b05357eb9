// The CUDA devices that this process sees.
#pragma once

#include <string>

#include "common/core/units.h"

namespace fabricbench::cuda {

struct VisibleDevices {
  int count = 0;
  std::string why_none;  ///< where `count` is 0: what is missing and what to do; else empty
};

/// Never throws: on a host without driver or device, `count` is 0. The first call starts the driver.
[[nodiscard]] VisibleDevices visible_devices();

/// What a device is. Nothing in it changes while the process lives.
struct DeviceFacts {
  int device;                      ///< CUDA's number, from 0, after CUDA_VISIBLE_DEVICES
  std::string model;               ///< such as `NVIDIA H200`
  std::string pci_address;         ///< as sysfs writes it, in lower case: `0000:42:00.0`
  std::string uuid;                ///< as nvidia-smi writes it: `GPU-5a0e3f7c-...`
  Bytes memory;                    ///< all of it, not what is free
  std::string compute_capability;  ///< such as `9.0`
  int multiprocessors;
  std::string driver;  ///< such as `580.65.06 (CUDA 13.0)`; without the first where it cannot be read
};

/// Throws Error (failure) where there is no such device. Makes no context on it.
/// Source: cudaGetDeviceProperties, cudaDriverGetVersion, /proc/driver/nvidia/version.
[[nodiscard]] DeviceFacts device_facts(int device);

/// What can be allocated on a device now; others may use the device too. Makes a context on it, which takes some
/// hundred MiB of the device. Throws Error (failure).
[[nodiscard]] Bytes free_memory(int device);

/// Version `580.65.06` in the text of /proc/driver/nvidia/version; empty where it has none.
[[nodiscard]] std::string kernel_driver_version(const std::string& text);

}  // namespace fabricbench::cuda
