// The devices that the readings of records used.
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

/// Numbers devices and routes in the order of their first use.
class DeviceIndex {
 public:
  /// The number of the route of one end of a reading, on this host; Route::kNone if the end has no devices. A device
  /// without a GUID or UUID is identified by its host. Throws std::invalid_argument with the problem.
  [[nodiscard]] std::int32_t route_of(std::string_view host, const ReadingEnd& end);

  /// Moves all devices and routes into a sweep; this object is empty afterwards.
  void give(Sweep& sweep);

 private:
  [[nodiscard]] std::int32_t device_of(DeviceKind kind, std::string_view id, std::string_view name,
                                       std::string_view host);
  [[nodiscard]] Route make_route(std::string_view host, const ReadingEnd& end);

  std::vector<Device> devices_;
  std::map<std::pair<DeviceKind, std::string>, std::int32_t> numbers_;  // of devices
  std::vector<Route> routes_;
  std::unordered_map<std::string, std::int32_t> known_;  // routes by their description
  std::string key_;                                      // of the last route asked for
};

}  // namespace fabricbench::cluster
