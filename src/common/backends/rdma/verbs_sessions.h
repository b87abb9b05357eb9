#pragma once

#include <string_view>

#include "common/backends/rdma/adapter_place.h"
#include "common/backends/rdma/local_port.h"
#include "common/core/rdma_options.h"
#include "common/engine/sessions.h"

namespace fabricbench {

/// Queue pairs between the two ranks of each pair.
class VerbsSessions final : public Sessions {
 public:
  /// `takes_seen_by`: --seen-by decides when a message counts.
  explicit VerbsSessions(Verb verb, bool takes_seen_by = false) : verb_(verb), takes_seen_by_(takes_seen_by) {}

  [[nodiscard]] std::string_view default_pairs(const Options& options, bool one_host) const override;
  void settle(const mpi::Communicator& job, PairPlan& plan, const Options& options) override;
  [[nodiscard]] std::int64_t left_out_pairs() const override { return port_.left_out_pairs; }
  [[nodiscard]] LocalPort local_port() const override { return port_.facts; }
  /// For bandwidths with GPU memory, `test` also runs with host memory, for comparison.
  [[nodiscard]] BackendChoice open(const Team& team, const Placed& placed, const Options& options,
                                   const Test& test) const override;

 private:
  Verb verb_;
  bool takes_seen_by_;
  SettledPort port_;
  Settlement place_;
};

}  // namespace fabricbench
