#pragma once

#include <cstdint>
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
  std::vector<std::string> notices;  ///< also on devices and pairs that were left out; the same on every process
  std::int64_t left_out_pairs = 0;   ///< the same on every process
};

/// Takes the pairs out of the plan one end of which cannot open its device. Collective over the job. Throws the errors
/// of choose_ports, the same on every process, and those of verbs::open_device if no pair is left.
[[nodiscard]] SettledPort settle_port(const mpi::Communicator& job, PairPlan& plan, const Options& options);

}  // namespace fabricbench
