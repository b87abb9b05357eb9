/// The interrupts of this host's network devices, and the processors that handle them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace fabricbench::host {

/// The interrupts of one PCI device in a period: how many each processor handled.
struct DeviceInterrupts {
  std::string device;  ///< `eth0`, or `eth0 and mlx5_0` for an interface and an RDMA device of the same PCI device
  std::map<int, std::uint64_t> by_processor;  ///< only processors that handled some
};

/// Reads how often the interrupts of network devices were handled. Devices without interrupts of their own, such as
/// loopback, bonds and soft-RoCE, are left out, and so is what cannot be read.
class InterruptReader {
 public:
  /// Finds the devices and their interrupts. `root` is the directory that stands for `/`. Source: `msi_irqs` of
  /// Documentation/ABI/testing/sysfs-bus-pci of Linux.
  explicit InterruptReader(std::filesystem::path root = "/");

  /// What was handled since the machine started. Takes milliseconds on a host with hundreds of processors. Source:
  /// /proc/interrupts, see proc(5).
  [[nodiscard]] std::vector<DeviceInterrupts> read() const;

 private:
  std::filesystem::path root_;
  std::vector<std::string> devices_;
  std::map<int, std::size_t> device_of_;  // by number of the interrupt: an index into devices_
};

/// The interrupts between two readings of one reader, by device.
[[nodiscard]] std::vector<DeviceInterrupts> interrupts_between(const std::vector<DeviceInterrupts>& before,
                                                               const std::vector<DeviceInterrupts>& after);

}  // namespace fabricbench::host
