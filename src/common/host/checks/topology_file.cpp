#include "common/host/checks/checks.h"
#include "common/host/checks/settings.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fabricbench::host {
namespace {

std::string attribute(const std::string& line, const std::string& name) {
  const std::string begin = name + "=\"";
  const std::size_t at = line.find(begin);
  if (at == std::string::npos) return "";
  const std::size_t from = at + begin.size();
  return line.substr(from, line.find('"', from) - from);
}

/// GPUs and adapters: files of clouds make up bridges that are not there.
bool is_end_device(const std::string& pci_class) {
  return pci_class.starts_with("0x02") || pci_class.starts_with("0x03");
}

void examine_topology_file(Look& host) {
  const auto setting = find_nccl_setting(host, "NCCL_TOPO_FILE");
  const auto text = host.text_if_any(setting->value);
  const auto tell = [&](const std::string& measured) {
    host.report({.measured = fmt::format("NCCL_TOPO_FILE={}: {}", setting->value, measured),
                 .expected = "the topology of this host",
                 .expected_by = setting->origin,
                 .consequence = "NCCL's rings and trees do not fit the host, and are slow",
                 .next = "use the file for this size of machine; NCCL_TOPO_DUMP_FILE shows what NCCL sees"});
  };
  if (!text) return tell("it is not there");
  const auto present = host.names("/sys/bus/pci/devices");
  std::vector<std::string> absent;
  for (const std::string& line : host.lines(setting->value)) {
    std::string address = attribute(line, "busid");
    std::transform(address.begin(), address.end(), address.begin(), [](unsigned char c) { return std::tolower(c); });
    if (line.find("<pci ") == std::string::npos || !is_end_device(attribute(line, "class"))) continue;
    if (std::find(present.begin(), present.end(), address) == present.end()) absent.push_back(address);
  }
  if (!absent.empty()) tell(fmt::format("it has devices that this host has not: {}", fmt::join(absent, ", ")));
}

std::optional<std::string> no_topology_file(Look& host) {
  if (find_nccl_setting(host, "NCCL_TOPO_FILE")) return std::nullopt;
  return "no NCCL_TOPO_FILE";
}

}  // namespace

Check topology_file_check() {
  return {.name = "topology_file",
          .what = "The file that NCCL_TOPO_FILE names is there and names GPUs and adapters of this host.",
          .reads = "NCCL_TOPO_FILE, the file, /sys/bus/pci/devices",
          .absent = no_topology_file,
          .look = examine_topology_file};
}

}  // namespace fabricbench::host
