// The network interfaces of this process's own network namespace.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace fabricbench::host {

/// An interface, and the bytes that it has sent and received since it was started.
struct InterfaceBytes {
  std::string name;
  std::uint64_t tx_bytes;
  std::uint64_t rx_bytes;
};

/// All of them, sorted by name, including the loopback; empty if they cannot be read. Source: /proc/self/net/dev of
/// proc(5). `root` is the directory that stands for `/`.
[[nodiscard]] std::vector<InterfaceBytes> interface_bytes(const std::filesystem::path& root);

/// Whether /sys/class/net is of another namespace, because it lists other interfaces: so it is in containers that mount
/// the host's /sys, and for processes that entered a namespace without mounting it anew.
[[nodiscard]] bool has_foreign_sysfs(const std::filesystem::path& root);

}  // namespace fabricbench::host
