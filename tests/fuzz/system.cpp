// What the kernel tells in text: files of /proc and /sys, all with the same contents.

#include <filesystem>
#include <fstream>

#include "common/host/interrupts.h"
#include "common/host/nics.h"
#include "common/host/pci.h"
#include "common/host/topology.h"
#include "readers.h"
#include "support.h"

using namespace fabricbench;

namespace {

constexpr const char* kFiles[] = {"proc/interrupts",
                                  "proc/meminfo",
                                  "proc/self/cgroup",
                                  "sys/devices/system/node/node0/cpulist",
                                  "sys/devices/pci0/0000:42:00.0/numa_node",
                                  "sys/devices/pci0/0000:42:00.0/class",
                                  "sys/devices/pci0/0000:42:00.0/current_link_speed",
                                  "sys/devices/pci0/0000:42:00.0/current_link_width",
                                  "sys/devices/pci0/0000:42:00.0/max_link_speed",
                                  "sys/devices/pci0/0000:42:00.0/max_link_width",
                                  "sys/devices/pci0/0000:42:00.0/net/eth0/statistics/tx_bytes",
                                  "sys/devices/pci0/0000:42:00.0/net/eth0/statistics/rx_bytes",
                                  "sys/fs/cgroup/memory.max",
                                  "sys/fs/cgroup/memory.current"};

/// A tree of its own, with a network interface whose PCI device has an interrupt.
std::filesystem::path make_tree() {
  namespace fs = std::filesystem;
  const fs::path root = fs::path("/dev/shm") / fmt::format("fabricbench-fuzz-{}", getpid());
  fs::create_directories(root / "sys/devices/pci0/0000:42:00.0/msi_irqs");
  fs::create_directories(root / "sys/devices/pci0/0000:42:00.0/net/eth0");
  fs::create_directories(root / "sys/bus/pci/devices");
  fs::create_directories(root / "sys/class/net");
  for (const char* file : kFiles) fs::create_directories((root / file).parent_path());
  std::ofstream(root / "sys/devices/pci0/0000:42:00.0/msi_irqs/7");
  fs::create_symlink("../../../devices/pci0/0000:42:00.0", root / "sys/bus/pci/devices/0000:42:00.0");
  fs::create_symlink("../../devices/pci0/0000:42:00.0/net/eth0", root / "sys/class/net/eth0");
  fs::create_symlink("../..", root / "sys/devices/pci0/0000:42:00.0/net/eth0/device");
  return root;
}

/// Until the fuzzer ends.
struct Tree {
  std::filesystem::path root = make_tree();
  Tree() = default;
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
  ~Tree() {
    std::error_code ignored;
    std::filesystem::remove_all(root, ignored);
  }
};

}  // namespace

void fuzz::read_system(std::string_view input) {
  static const Tree tree;
  for (const char* file : kFiles) std::ofstream(tree.root / file) << input;
  static_cast<void>(host::InterruptReader(tree.root).read());
  static_cast<void>(host::NicReader(tree.root).read());
  static_cast<void>(host::pci_links("0000:42:00.0", tree.root));
  static_cast<void>(host::pci_locality("0000:42:00.0", tree.root));
  static_cast<void>(host::node_binding(0, input, tree.root));
}
