// rdma_read_bw: a stream of reads of another rank's memory, as ib_read_bw measures them.

#include "common/harness/program.h"
#include "common/options/verbs_programs.h"
#include "common/rdma/rdma_test.h"

namespace fabricbench {
namespace {

class RdmaReadBandwidth final : public RequestStream {
 public:
  [[nodiscard]] std::string_view name() const override { return "rdma_read_bw"; }
  [[nodiscard]] Verb verb() const override { return Verb::kRead; }
};

}  // namespace

int rdma_read_bw(int argc, char** argv) {
  return run_program(
      verbs_program("rdma_read_bw", "Bandwidth of reads of another rank's memory, as ib_read_bw measures it.",
                    {.verb = Verb::kRead}),
      RdmaReadBandwidth(), argc, argv);
}

}  // namespace fabricbench
