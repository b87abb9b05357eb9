// rdma_atomic_bw: a stream of atomic operations on another rank's memory, as ib_atomic_bw measures them.

#include "common/harness/program.h"
#include "common/options/verbs_programs.h"
#include "common/rdma/rdma_test.h"

namespace fabricbench {
namespace {

class RdmaAtomicBandwidth final : public RequestStream {
 public:
  [[nodiscard]] std::string_view name() const override { return "rdma_atomic_bw"; }
  [[nodiscard]] Verb verb() const override { return Verb::kAtomic; }
};

}  // namespace

int rdma_atomic_bw(int argc, char** argv) {
  return run_program(verbs_program("rdma_atomic_bw",
                                   "Rate of atomic operations on another rank's memory, as ib_atomic_bw measures it.",
                                   {.verb = Verb::kAtomic}),
                     RdmaAtomicBandwidth(), argc, argv);
}

}  // namespace fabricbench
