#pragma once

#include <string>
#include <vector>

#include "common/core/units.h"
#include "common/harness/describe.h"
#include "common/harness/team.h"
#include "common/harness/wires.h"
#include "common/host/wires.h"
#include "common/report/row.h"

namespace fabricbench {

/// Reads the byte counters of every host around what is measured. One process of each group reads on each host; they
/// count all bytes, so groups that share a host see each other's.
class WireMeter {
 public:
  /// Collective over the group. `backend`: whose variables say which wires were asked for.
  WireMeter(const Team& team, const Placed& placed, const std::string& backend);

  /// Collective over the job.
  void begin();
  /// Adds what has been carried since `begin` to `total`. `least_bytes`: half of what the job had to move, to be
  /// shared by its hosts.
  void end(host::WireTotal& total, Bytes least_bytes);

  /// A total by host, on the group's first process; collective over the group.
  [[nodiscard]] std::vector<WireBytes> by_host(const host::WireTotal& total) const;

  /// Adds to the run's ending which wires carried it, and warnings; collective over the job. Nothing where there is
  /// one host: its ranks meet in memory.
  void report(Ending& ending) const;

 private:
  const Team& team_;
  const Placed& placed_;
  bool reads_ = false;
  host::WireReader reader_;
  std::vector<AskedWires> asked_;
  std::vector<host::WireCounter> before_;
  host::WireTotal all_;
  Bytes least_bytes_ = 0;
};

}  // namespace fabricbench
