#include "cluster/tools/device_index.h"

#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

namespace fabricbench::cluster {
namespace {

double rate_of(const ReadingEnd& end) {
  if (!end.port_rate) return 0;
  if (!std::isfinite(*end.port_rate) || *end.port_rate <= 0) {
    throw std::invalid_argument(fmt::format("a port's rate of {} GB/s is invalid", *end.port_rate / 1e9));
  }
  return *end.port_rate;
}

}  // namespace

std::int32_t DeviceIndex::route_of(std::string_view host, const ReadingEnd& end) {
  if (!end.has_devices()) return Route::kNone;
  constexpr char kBetween = '\0';
  key_.assign(host);
  for (const std::string_view text : {end.nic, end.nic_guid, end.gpu, end.gpu_uuid, end.switch_port}) {
    key_ += kBetween;
    key_ += text;
  }
  key_ += kBetween;
  if (end.port_rate) key_ += fmt::to_string(*end.port_rate);
  const auto known = known_.find(key_);
  if (known != known_.end()) return known->second;
  routes_.push_back(make_route(host, end));
  const auto number = static_cast<std::int32_t>(routes_.size() - 1);
  known_.emplace(key_, number);
  return number;
}

void DeviceIndex::give(Sweep& sweep) {
  sweep.devices = std::exchange(devices_, {});
  sweep.routes = std::exchange(routes_, {});
  numbers_.clear();
  known_.clear();
}

std::int32_t DeviceIndex::device_of(DeviceKind kind, std::string_view id, std::string_view name,
                                    std::string_view host) {
  if (id.empty() && name.empty()) return Route::kNone;
  std::string own = id.empty() ? fmt::format("{}/{}", host, name) : std::string(id);
  const auto [at, added] = numbers_.try_emplace({kind, own}, static_cast<std::int32_t>(devices_.size()));
  if (added) devices_.push_back({kind, std::move(own), std::string(name)});
  return at->second;
}

Route DeviceIndex::make_route(std::string_view host, const ReadingEnd& end) {
  Route route;
  route.port_rate = rate_of(end);
  const auto set = [&](DeviceKind kind, std::string_view id, std::string_view name) {
    route.devices[static_cast<std::size_t>(kind)] = device_of(kind, id, name, host);
  };
  set(DeviceKind::kNic, end.nic_guid, end.nic);
  set(DeviceKind::kGpu, end.gpu_uuid, end.gpu);
  set(DeviceKind::kSwitchPort, end.switch_port, end.switch_port);
  return route;
}

}  // namespace fabricbench::cluster
