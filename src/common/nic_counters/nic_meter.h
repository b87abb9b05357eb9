#pragma once

#include <string>
#include <vector>

#include "common/core/units.h"
#include "common/host/nics.h"
#include "common/nic_counters/nic_shares.h"
#include "common/ranks/placement.h"
#include "common/ranks/team.h"
#include "common/record/row.h"

namespace fabricbench {

/// What the NICs of all hosts carried.
struct NicReport {
  std::vector<HostNics> hosts;  ///< on the first process; empty on others
  Bytes least_bytes = 0;        ///< half of what had to be moved

  /// Adds what was carried later; a host of both has the sum.
  void add(const NicReport& later);
  /// Adds to a run's ending which NICs carried it, and warnings. Nothing where there is one host: its ranks meet in
  /// memory.
  void add_to(Ending& ending) const;
};

template <typename Form, record::Of<NicReport> Message>
void describe(Form& form, Message& report) {
  form.hidden(report.hosts, report.least_bytes);
}

/// Reads the byte counters of every host around what is measured. One process of each group reads on each host; they
/// count all bytes, so groups that share a host see each other's.
class NicMeter {
 public:
  /// Collective over the group. `backend`: whose variables say which NICs were asked for; `interface`: that of TCP, as
  /// --interface has it.
  NicMeter(const Team& team, const Placed& placed, const std::string& backend, const std::string& interface = "");

  /// Collective over the job.
  void begin();
  /// Adds what has been carried since `begin` to `total`. `least_bytes`: half of what the job had to move, to be
  /// shared by its hosts.
  void end(host::NicTotal& total, Bytes least_bytes);

  /// A total by host, on the group's first process; collective over the group.
  [[nodiscard]] std::vector<NicBytes> by_host(const host::NicTotal& total) const;

  /// All that was carried so far; collective over the job.
  [[nodiscard]] NicReport report() const;

 private:
  const Team& team_;
  const Placed& placed_;
  bool reads_ = false;
  host::NicReader reader_;
  std::vector<RequestedNics> asked_;
  std::vector<host::NicCounter> before_;
  host::NicTotal all_;
  Bytes least_bytes_ = 0;
};

}  // namespace fabricbench
