#include "common/host/checks/devices.h"

#include <algorithm>

#include <fmt/format.h>

namespace fabricbench::host {

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
