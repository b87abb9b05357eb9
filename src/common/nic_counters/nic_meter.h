#pragma once

#include <string>
#include <vector>

#include "common/core/units.h"
#include "common/host/nics.h"
#include "common/nic_counters/nic_shares.h"
#include "common/ranks/team.h"
#include "common/record/row.h"

namespace fabricbench {

/// The traffic of the NICs of all hosts.
struct NicReport {
  std::vector<HostNics> hosts;  ///< on the first process; empty on others
  Bytes least_bytes = 0;        ///< half of the bytes that had to be moved

  /// Adds later traffic. A host in both reports gets the sum.
  void add(const NicReport& later);
  /// Adds to a run's ending a line for each host's NICs, and warnings. Adds nothing for a single host, whose ranks
  /// exchange data through memory.
  void add_to(Ending& ending) const;
};

template <typename Visitor, record::Of<NicReport> Message>
void describe(Visitor& visitor, Message& report) {
  visitor.internal(report.hosts, report.least_bytes);
}

/// Reads the byte counters of every host before and after a measurement. One process of each group reads them on each
/// host. They count all bytes, so groups on the same host count each other's too.
class NicMeter {
 public:
  /// Collective over the group. `backend`: determines which variables are read for the requested NICs; `interface`: the
  /// value of --interface, for TCP.
  NicMeter(const Team& team, const ProcessLocation& location, const std::string& backend,
           const std::string& interface = "");

  /// Collective over the job.
  void begin();
  /// Adds the traffic since `begin` to `total`. `least_bytes`: half of the bytes that the job had to move, for all
  /// hosts together.
  void end(host::NicTotal& total, Bytes least_bytes);

  /// A host's total, by host, on the group's first process. Collective over the group.
  [[nodiscard]] std::vector<NicBytes> by_host(const host::NicTotal& total) const;

  /// All traffic so far. Collective over the job.
  [[nodiscard]] NicReport report() const;

 private:
  const Team& team_;
  const ProcessLocation& location_;
  bool reads_ = false;
  host::NicReader reader_;
  std::vector<RequestedNics> asked_;
  std::vector<host::NicCounter> before_;
  host::NicTotal all_;
  Bytes least_bytes_ = 0;
};

}  // namespace fabricbench
