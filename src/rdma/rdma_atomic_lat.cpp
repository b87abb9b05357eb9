// rdma_atomic_lat: an atomic operation on the other rank's memory, until it has completed.

#include "common/harness/program.h"
#include "common/options/verbs_programs.h"
#include "common/rdma/rdma_test.h"

namespace fabricbench {
namespace {

class RdmaAtomicLatency final : public RequestAlone {
 public:
  [[nodiscard]] std::string_view name() const override { return "rdma_atomic_lat"; }
  [[nodiscard]] Verb verb() const override { return Verb::kAtomic; }
};

}  // namespace

int rdma_atomic_lat(int argc, char** argv) {
  return run_program(verbs_program("rdma_atomic_lat",
                                   "Latency of an atomic operation on another rank's memory, until it has completed.",
                                   {.verb = Verb::kAtomic, .latency = true}),
                     RdmaAtomicLatency(), argc, argv);
}

}  // namespace fabricbench
