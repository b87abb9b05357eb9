// What network devices carry, drop and get wrong while something else runs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/core/units.h"
#include "common/host/nics.h"
#include "common/record/preflight.h"

namespace fabricbench::cluster {

/// The counters of this host's NICs, from one reading to the next.
class NicWatch {
 public:
  /// Takes the first reading. `root` is the directory that stands for `/`.
  explicit NicWatch(const std::filesystem::path& root = "/");

  /// The traffic since the last reading, of NICs that carried bytes or counted events. `now`: since the first one.
  [[nodiscard]] std::vector<PreflightTraffic> next(const std::string& host, Seconds now);

 private:
  /// Counters of drops, errors, pauses and retransmissions, by name.
  using Events = std::map<std::string, std::uint64_t>;
  [[nodiscard]] Events events_of(const host::NicCounter& nic) const;

  std::filesystem::path root_;
  host::NicReader reader_;
  std::vector<host::NicCounter> bytes_;
  std::map<std::string, Events> events_;  // by NIC
  Seconds last_ = 0;
};

/// A warning for each counter of a NIC that counted drops or errors during the watch, one line for the hosts that
/// counted the same. `traffic`: of the whole watch.
[[nodiscard]] std::vector<PreflightFinding> judge_traffic(const std::vector<PreflightTraffic>& traffic);

}  // namespace fabricbench::cluster
