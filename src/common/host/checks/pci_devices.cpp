#include "common/host/checks/pci_devices.h"

#include <filesystem>

#include <fmt/format.h>

namespace fabricbench::host {

namespace {

/// Class 0x0300 is a VGA controller, 0x0302 a 3D controller; a programming interface of two digits follows.
bool is_nvidia_gpu(Look& look, const std::string& address) {
  const std::string folder = kPciDevices + "/" + address;
  if (look.text(folder + "/vendor") != "0x10de") return false;
  const std::string kind = look.text(folder + "/class");
  return kind.starts_with("0x0300") || kind.starts_with("0x0302");
}

}  // namespace

int link_width(Look& look, const std::string& device, const std::string& which) {
  const std::string file = fmt::format("{}/{}_link_width", device, which);
  const std::string text = look.text(file);
  if (const auto width = link_width_in(text)) return *width;
  throw NotSeen(file, fmt::format("'{}' is not a width", text));
}

PciLink link_of(Look& look, const std::string& device, const std::string& which) {
  const std::string file = fmt::format("{}/{}_link_speed", device, which);
  const std::string text = look.text(file);
  if (const auto speed = link_speed_in(text)) return {*speed, link_width(look, device, which)};
  throw NotSeen(file, fmt::format("'{}' is not a speed", text));
}

std::optional<std::string> slot_above(const std::string& path) {
  const std::filesystem::path above = std::filesystem::path(path).parent_path();
  if (above.filename().string().starts_with("pci")) return std::nullopt;  // pci0000:00
  return above.string();
}

std::vector<std::string> nvidia_gpus(Look& look) {
  std::vector<std::string> gpus;
  for (const std::string& each : look.names_if_any(kPciDevices).value_or(std::vector<std::string>())) {
    if (is_nvidia_gpu(look, each)) gpus.push_back(each);
  }
  return gpus;
}

std::optional<std::string> no_nvidia_gpu(Look& look) {
  if (!nvidia_gpus(look).empty()) return std::nullopt;
  return "no NVIDIA GPU";
}

}  // namespace fabricbench::host
