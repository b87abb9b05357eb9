#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/options.h"
#include "common/core/ownership.h"
#include "common/core/session.h"
#include "common/measure/test.h"
#include "common/ranks/team.h"
#include "common/record/context.h"
#include "common/record/field.h"

namespace fabricbench {

struct PairPlan;

/// The library to measure, and the reason for the choice.
struct BackendChoice {
  std::unique_ptr<Session> session;
  std::string name;
  std::string reason;  ///< completes "because ..."
  std::vector<std::string> notices{};
};

/// The port that carries this process's messages.
struct LocalPort {
  std::string name;           ///< such as `mlx5_0 port 1`; empty: unknown
  double rate = 0;            ///< bytes per second of one direction; 0: unknown
  std::string rate_source{};  ///< `mlx5_0 port 1 of host a (its driver reports '400 Gb/sec (4X NDR)')`
};

template <typename Visitor, record::Of<LocalPort> Message>
void describe(Visitor& visitor, Message& port) {
  visitor.internal(port.name, port.rate, port.rate_source);
}

/// Opens the sessions of a run.
class Sessions : public InterfaceBase {
 public:
  /// The default of --pairs; empty: one rank on each of two hosts.
  [[nodiscard]] virtual std::string_view default_pairs(const Options& /*options*/, bool /*one_host*/) const {
    return "";
  }
  /// Chooses the devices of each process before any pair is set up, and takes pairs without a usable one out of the
  /// plan, with a notice. Collective over the job, including processes that are in no pair. Throws Error, the same on
  /// every process, also if no pair is left.
  virtual void choose_device(const mpi::Communicator& /*job*/, PairPlan& /*plan*/, const Options& /*options*/) {}
  /// The number of pairs that `choose_device` took out; the same on every process.
  [[nodiscard]] virtual std::int64_t left_out_pairs() const { return 0; }
  /// The port that `choose_device` chose; without a name if it chose none.
  [[nodiscard]] virtual LocalPort local_port() const { return {}; }
  /// Why messages of this size cannot be carried; empty if they can.
  [[nodiscard]] virtual std::string why_not_size(Bytes /*size*/) const { return ""; }
  /// The GPUs that this process keeps for all rounds of pairs, which are set up one after the other. Collective over
  /// the team, the processes of all rounds. Throws Error.
  [[nodiscard]] virtual ReservedGpus reserve_gpus(const Team& /*team*/, const ProcessLocation& /*placed*/,
                                                  const Options& /*options*/) const {
    return {};
  }
  /// What there is to know of GPUs by CUDA's numbers.
  [[nodiscard]] virtual std::vector<GpuFacts> describe_gpus(const std::vector<int>& /*devices*/) const { return {}; }

  /// Opens the session of this process's ranks for `test`. Collective over the team, which must outlive the session.
  /// Throws Error, the same on every process: usage, or missing if something that was asked for does not exist.
  [[nodiscard]] virtual BackendChoice open(const Team& team, const ProcessLocation& location, const Options& options,
                                           const Test& test) const = 0;
};

}  // namespace fabricbench
