#include "common/host/checks/devices.h"

#include <algorithm>

#include <fmt/format.h>

namespace fabricbench::host {
namespace {

bool has_port_of(Look& look, std::string_view layer) {
  bool has = false;
  each_port(look, [&](const RdmaPort& port) { has = look.text(port.folder() + "/link_layer") == layer || has; });
  return has;
}

}  // namespace

std::vector<std::string> rdma_devices(Look& look) {
  return look.names_if_any(kRdmaClass).value_or(std::vector<std::string>());
}

std::optional<std::string> no_rdma_device(Look& look) {
  if (!rdma_devices(look).empty()) return std::nullopt;
  return "no RDMA device";
}

void each_port(Look& look, const std::function<void(const RdmaPort&)>& action) {
  look.each(rdma_devices(look), [&](const std::string& device) {
    const std::string folder = fmt::format("{}/{}/ports", kRdmaClass, device);
    look.each(look.names(folder), [&](const std::string& number) { action({device, number}); });
  });
}

bool is_active(Look& look, const RdmaPort& port) {
  return look.text(port.folder() + "/state").find("ACTIVE") != std::string::npos;
}

void each_active_port(Look& look, std::string_view layer, const std::function<void(const RdmaPort&)>& action) {
  each_port(look, [&](const RdmaPort& port) {
    if (look.text(port.folder() + "/link_layer") == layer && is_active(look, port)) action(port);
  });
}

std::optional<std::string> no_infiniband_port(Look& look) {
  if (has_port_of(look, "InfiniBand")) return std::nullopt;
  return "no InfiniBand port";
}

std::optional<std::string> no_roce_port(Look& look) {
  if (has_port_of(look, "Ethernet")) return std::nullopt;
  return "no RoCE port";
}

std::string driver_of(Look& look, const std::string& device) {
  return look.target(fmt::format("{}/{}/device/driver", kRdmaClass, device));
}

std::vector<std::string> interfaces_of(Look& look, const std::string& device) {
  const std::string folder = fmt::format("{}/{}/device", kRdmaClass, device);
  if (const auto names = look.names_if_any(folder + "/net")) return *names;
  static_cast<void>(look.path(folder));  // without it, nothing is known of interfaces
  return {};
}

std::string board_of(Look& look, const std::string& device) {
  for (const char* name : {"board_id", "hca_type"}) {
    const auto text = look.text_if_any(fmt::format("{}/{}/{}", kRdmaClass, device, name));
    if (text && !text->empty()) return *text;
  }
  return "unknown";
}

bool has_port(Look& look, const std::string& device, const std::string& port) {
  if (port.empty()) return true;
  const auto ports = look.names(fmt::format("{}/{}/ports", kRdmaClass, device));
  return std::find(ports.begin(), ports.end(), port) != ports.end();
}

}  // namespace fabricbench::host
