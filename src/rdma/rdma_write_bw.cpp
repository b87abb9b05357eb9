// rdma_write_bw: a stream of writes into another rank's memory, as ib_write_bw measures them.

#include "common/harness/program.h"
#include "common/options/verbs_programs.h"
#include "common/rdma/rdma_test.h"

namespace fabricbench {
namespace {

class RdmaWriteBandwidth final : public RequestStream {
 public:
  [[nodiscard]] std::string_view name() const override { return "rdma_write_bw"; }
  [[nodiscard]] Verb verb() const override { return Verb::kWrite; }
};

}  // namespace

int rdma_write_bw(int argc, char** argv) {
  return run_program(
      verbs_program("rdma_write_bw", "Bandwidth of writes into another rank's memory, as ib_write_bw measures it.",
                    {.verb = Verb::kWrite}),
      RdmaWriteBandwidth(), argc, argv);
}

}  // namespace fabricbench
