#pragma once

#include <string>
#include <vector>

#include "common/core/options.h"
#include "common/engine/pair_plan.h"
#include "common/mpi/communicator.h"

namespace fabricbench {

/// The device and port of this process, as chosen by --devices, -d and -i.
struct SettledPort {
  std::string device;  ///< empty: this process is in no pair
  int port = 0;
  LocalPort facts;
  std::vector<std::string> notices;
};

/// Collective over the job. Throws the errors of choose_ports and verbs::open_device, the same on every process.
[[nodiscard]] SettledPort settle_port(const mpi::Communicator& job, const PairPlan& plan, const Options& options);

}  // namespace fabricbench
