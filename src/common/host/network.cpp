#include "common/host/network.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/host/files.h"
#include "common/host/nics.h"

namespace fabricbench::host {
namespace {

namespace fs = std::filesystem;

// Entries of a directory that are directories themselves or links to one, which leaves out files
// such as /sys/class/net/bonding_masters. A directory that cannot be read has none.
std::vector<fs::path> subdirectories(const fs::path& directory) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code unreadable;
    if (entry->is_directory(unreadable)) found.push_back(entry->path());
  }
  return found;
}

// Source: ARPHRD_ETHER and ARPHRD_INFINIBAND in linux/if_arp.h.
std::string interface_kind(const fs::path& interface) {
  const auto type = read_integer<int>(interface / "type");
  if (type == 1) return "ethernet";
  if (type == 32) return "infiniband";
  return "other";
}

// An unknown speed is -1, which some kernels print as an unsigned number: neither fits.
std::optional<std::int64_t> interface_speed(const fs::path& interface) {
  const auto speed = read_integer<std::int32_t>(interface / "speed");
  return speed && *speed > 0 ? std::optional<std::int64_t>(*speed) : std::nullopt;
}

std::string port_kind(const fs::path& port) {
  const auto link_layer = read_first_line(port / "link_layer");
  if (link_layer == "Ethernet") return "ethernet";
  if (link_layer == "InfiniBand") return "infiniband";
  return "other";
}

// `4: ACTIVE` is the number of the state and its name.
std::string port_state(const fs::path& port) {
  const std::string state = read_first_line(port / "state").value_or("unknown");
  const auto colon = state.find(": ");
  return colon == std::string::npos ? state : state.substr(colon + 2);
}

// `100 Gb/sec (4X EDR)` or `2.5 Gb/sec (1X SDR)`; 0 where there is no link.
std::optional<std::int64_t> port_speed(const fs::path& port) {
  constexpr double kFastestGbitPerS = 1e6;
  const std::string rate = read_first_line(port / "rate").value_or("");
  const char* const end = rate.data() + rate.size();
  double gbit_per_s = 0;
  const auto [stop, error] = std::from_chars(rate.data(), end, gbit_per_s);
  const std::string_view unit(stop, static_cast<std::size_t>(end - stop));
  if (error != std::errc{} || !unit.starts_with(" Gb/sec")) return std::nullopt;
  if (!(gbit_per_s > 0 && gbit_per_s < kFastestGbitPerS)) return std::nullopt;
  return std::llround(gbit_per_s * 1000);
}

// `0c42:a103:00f1:d2e6`; a device that has none shows zeros.
std::optional<std::string> device_guid(const fs::path& device) {
  std::string digits = read_first_line(device / "node_guid").value_or("");
  std::erase(digits, ':');
  if (digits.find_first_not_of('0') == std::string::npos) return std::nullopt;
  return "0x" + digits;
}

// The name and version of the driver of what `device` links to. Drivers that come with the kernel have no version.
std::string driver_of(const fs::path& root, const fs::path& device) {
  std::error_code error;
  const std::string name = fs::read_symlink(device / "driver", error).filename().string();
  if (error) return {};
  const auto version = read_first_line(root / "sys/module" / name / "version");
  return version ? name + " " + *version : name;
}

// What `ethtool -i` prints as firmware-version.
std::string firmware_told_by_driver(const std::string& interface) {
  ethtool_drvinfo info{};
  info.cmd = ETHTOOL_GDRVINFO;
  ifreq request{};
  std::copy_n(interface.c_str(), std::min(interface.size(), sizeof request.ifr_name - 1), request.ifr_name);
  request.ifr_data = reinterpret_cast<char*>(&info);
  const int asked = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (asked < 0) return {};
  const bool answered = ioctl(asked, SIOCETHTOOL, &request) == 0;
  close(asked);
  return answered ? std::string(info.fw_version, strnlen(info.fw_version, sizeof info.fw_version)) : std::string();
}

// Of an adapter, which bridges and the like are not, without RDMA: otherwise its port tells it.
std::string interface_firmware(const fs::path& interface, const FirmwareReader& firmware_of) {
  std::error_code error;
  if (!firmware_of || !fs::exists(interface / "device", error) || fs::exists(interface / "device/infiniband", error)) {
    return {};
  }
  const std::string firmware = firmware_of(interface.filename().string());
  const bool is_text =
      std::all_of(firmware.begin(), firmware.end(), [](char each) { return each >= ' ' && each <= '~'; });
  return is_text && firmware != "N/A" ? firmware : std::string();
}

std::vector<NetworkDevice> interfaces(const fs::path& root, const FirmwareReader& firmware_of) {
  std::vector<NetworkDevice> found;
  if (has_foreign_sysfs(root)) {  // which has the properties of others
    for (const InterfaceBytes& interface : interface_bytes(root)) {
      if (interface.name != "lo")
        found.push_back({.name = interface.name, .kind = "other", .state = "unknown", .speed_mbit_per_s = {}});
    }
    return found;
  }
  for (const fs::path& interface : subdirectories(root / "sys/class/net")) {
    if (interface.filename() == "lo") continue;
    found.push_back({.name = interface.filename().string(),
                     .kind = interface_kind(interface),
                     .state = read_first_line(interface / "operstate").value_or("unknown"),
                     .speed_mbit_per_s = interface_speed(interface),
                     .numa_node = numa_node_of(interface / "device"),
                     .mtu = read_integer<int>(interface / "mtu"),
                     .driver = driver_of(root, interface / "device"),
                     .firmware = interface_firmware(interface, firmware_of)});
  }
  return found;
}

std::vector<NetworkDevice> rdma_ports(const fs::path& root) {
  std::vector<NetworkDevice> found;
  for (const fs::path& device : subdirectories(root / "sys/class/infiniband")) {
    for (const fs::path& port : subdirectories(device / "ports")) {
      found.push_back({.name = device.filename().string() + ":" + port.filename().string(),
                       .kind = port_kind(port),
                       .state = port_state(port),
                       .speed_mbit_per_s = port_speed(port),
                       .numa_node = numa_node_of(device / "device"),
                       .guid = device_guid(device),
                       .driver = driver_of(root, device / "device"),
                       .firmware = read_first_line(device / "fw_ver").value_or("")});
    }
  }
  return found;
}

}  // namespace

std::vector<NetworkDevice> network_devices(const fs::path& root, const FirmwareReader& firmware_of) {
  const bool is_own = root == "/";
  std::vector<NetworkDevice> devices = interfaces(root, is_own && !firmware_of ? firmware_told_by_driver : firmware_of);
  for (NetworkDevice& port : rdma_ports(root)) devices.push_back(std::move(port));
  std::sort(devices.begin(), devices.end(),
            [](const NetworkDevice& a, const NetworkDevice& b) { return a.name < b.name; });
  return devices;
}

}  // namespace fabricbench::host
