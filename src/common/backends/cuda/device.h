// The CUDA devices that this process sees.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/units.h"

namespace fabricbench::cuda {

struct VisibleDevices {
  int count = 0;
  std::string why_none;  ///< what is missing and what to do if `count` is 0; else empty
};

/// Never throws: on a host without driver or device, `count` is 0. The first call starts the driver.
[[nodiscard]] VisibleDevices visible_devices();

/// The properties of a device, which are constant while the process lives.
struct DeviceFacts {
  int device;                      ///< CUDA's number, from 0, after CUDA_VISIBLE_DEVICES
  std::string model;               ///< such as `NVIDIA H200`
  std::string pci_address;         ///< in sysfs form, lower case: `0000:42:00.0`
  std::string uuid;                ///< in nvidia-smi's form: `GPU-5a0e3f7c-...`
  Bytes memory;                    ///< total memory, not the free part
  std::string compute_capability;  ///< such as `9.0`
  int multiprocessors;
  std::string driver;  ///< such as `580.65.06 (CUDA 13.0)`; without the first part if it cannot be read
};

/// Throws Error (failure) if there is no such device. Creates no context on it. Source: cudaGetDeviceProperties,
/// cudaDriverGetVersion, /proc/driver/nvidia/version.
[[nodiscard]] DeviceFacts device_facts(int device);

/// The memory available on a device now; others may use the device too. Creates a context on it, which takes some
/// hundred MiB of its memory. Throws Error (failure).
[[nodiscard]] Bytes free_memory(int device);

/// Whether a kernel on the device that sees a flag written by a network adapter (GPUDirect RDMA) also sees what the
/// adapter has written before it. Throws Error (failure) if there is no such device. Source:
/// cudaDevAttrGPUDirectRDMAWritesOrdering.
[[nodiscard]] bool keeps_order_of_rdma_writes(int device);

/// The version, such as `580.65.06`, in the text of /proc/driver/nvidia/version; empty if it has none.
[[nodiscard]] std::string kernel_driver_version(const std::string& text);

// The choice of devices for each process: pure functions of data that all processes exchanged.

/// The devices that a process sees and needs.
struct ProcessDevices {
  std::uint64_t host = 0;          ///< the same for processes of one host
  std::string host_name;           ///< for messages
  std::vector<std::string> uuids;  ///< the visible devices, in CUDA's order
  int needed = 1;
};

struct DeviceChoice {
  std::vector<std::vector<int>> devices;  ///< CUDA's device numbers of each process, in the order of the processes
  std::string notice;                     ///< the processes that share a device; empty if none do
};

/// Assigns every process, in the order of ranks, as many devices as it needs.
///
/// Processes of one host that see the same set of devices share them out in order: with L devices per process, the p-th
/// process gets the p-th L of them. So if all processes see all devices, each local rank has its own; and if the
/// launcher shows each process a different set, each begins with its first device. Lists with the same devices in
/// another order are the same set, in the order of the first process. With `first_device`, every process begins at that
/// device of its own list.
///
/// `shared_by`: what several processes must set to use one device, for the advice of an error.
///
/// The result depends only on the arguments, so all processes make the same choice or get the same error. Throws Error
/// (missing) with the host and the existing and required numbers of devices; UsageError if `first_device` is negative.
[[nodiscard]] DeviceChoice choose_devices(std::span<const ProcessDevices> processes,
                                          std::optional<std::int64_t> first_device,
                                          std::string_view shared_by = "--device 0");

}  // namespace fabricbench::cuda
