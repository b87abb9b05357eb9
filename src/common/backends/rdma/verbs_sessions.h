#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/backends/rdma/adapter_affinity.h"
#include "common/backends/rdma/rdma_test.h"
#include "common/core/options.h"
#include "common/core/rdma_options.h"
#include "common/engine/pair_plan.h"
#include "common/engine/sessions.h"
#include "common/mpi/communicator.h"
#include "common/options/verbs_programs.h"
#include "common/programs/run_program.h"

namespace fabricbench {

/// The device and port of this process, as chosen by --devices, -d and -i.
struct UsablePort {
  std::string device;  ///< empty: this process is in no pair
  int port = 0;
  LocalPort facts;
  std::vector<std::string> notices;  ///< also on devices and pairs that were left out; the same on every process
  std::int64_t left_out_pairs = 0;   ///< the same on every process
};

/// Takes the pairs out of the plan one end of which cannot open its device. Collective over the job. Throws the errors
/// of choose_ports, the same on every process, and those of verbs::open_device if no pair is left.
[[nodiscard]] UsablePort choose_usable_port(const mpi::Communicator& job, PairPlan& plan, const Options& options);

/// Queue pairs between the two ranks of each pair.
class VerbsSessions final : public Sessions {
 public:
  /// `takes_seen_by`: --seen-by decides when a message counts.
  explicit VerbsSessions(Verb verb, bool takes_seen_by = false) : verb_(verb), takes_seen_by_(takes_seen_by) {}

  [[nodiscard]] std::string_view default_pairs(const Options& options, bool one_host) const override;
  void choose_device(const mpi::Communicator& job, PairPlan& plan, const Options& options) override;
  [[nodiscard]] std::int64_t left_out_pairs() const override { return port_.left_out_pairs; }
  [[nodiscard]] LocalPort local_port() const override { return port_.facts; }
  [[nodiscard]] ReservedGpus reserve_gpus(const Team& team, const ProcessLocation& location,
                                          const Options& options) const override;
  [[nodiscard]] std::vector<GpuFacts> describe_gpus(const std::vector<int>& devices) const override;
  /// For bandwidths with GPU memory, `test` also runs with host memory, for comparison.
  [[nodiscard]] BackendChoice open(const Team& team, const ProcessLocation& location, const Options& options,
                                   const Test& test) const override;

 private:
  Verb verb_;
  bool takes_seen_by_;
  UsablePort port_;
  ProcessBinding place_;
};

/// Runs a program that measures requests over RDMA verbs. `MessageTest` determines the order of requests.
template <typename MessageTest>
[[nodiscard]] int run_verbs_program(const std::string& name, const std::string& summary, const VerbsTest& what,
                                    int argc, char** argv) {
  return run_program(verbs_program(name, summary, what), MessageTest(name, what.verb),
                     VerbsSessions(what.verb, what.seen_by), argc, argv);
}

}  // namespace fabricbench
