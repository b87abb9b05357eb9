// The devices that the readings of records went through.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cluster/readings.h"
#include "common/record/reading.h"

namespace fabricbench::cluster {

/// Gives numbers to devices and to routes, in the order of their first use.
class DeviceIndex {
 public:
  /// The number of the route of one end of a reading, on this host; Route::kNone: the end names no device. A device
  /// without a GUID or UUID is identified by its host and name. Throws std::invalid_argument that names what is wrong.
  [[nodiscard]] std::int32_t route_of(std::string_view host, const ReadingEnd& end);

  /// Moves all devices and routes into a sweep.
  void give(Sweep& sweep);

 private:
  [[nodiscard]] std::int32_t device_of(DeviceKind kind, std::string_view id, std::string_view name,
                                       std::string_view host);
  [[nodiscard]] Route make_route(std::string_view host, const ReadingEnd& end);

  std::vector<Device> devices_;
  std::map<std::pair<DeviceKind, std::string>, std::int32_t> numbers_;  // of devices
  std::vector<Route> routes_;
  std::unordered_map<std::string, std::int32_t> known_;  // routes by all that was said of them
  std::string key_;                                      // of the route that was asked for last
};

}  // namespace fabricbench::cluster
