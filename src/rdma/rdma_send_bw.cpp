// rdma_send_bw: a stream of sends to another rank, as ib_send_bw measures them.

#include "common/harness/program.h"
#include "common/options/verbs_programs.h"
#include "common/rdma/rdma_test.h"

namespace fabricbench {
namespace {

class RdmaSendBandwidth final : public RequestStream {
 public:
  [[nodiscard]] std::string_view name() const override { return "rdma_send_bw"; }
  [[nodiscard]] Verb verb() const override { return Verb::kSend; }
};

}  // namespace

int rdma_send_bw(int argc, char** argv) {
  return run_program(verbs_program("rdma_send_bw", "Bandwidth of sends to another rank, as ib_send_bw measures it.",
                                   {.verb = Verb::kSend}),
                     RdmaSendBandwidth(), argc, argv);
}

}  // namespace fabricbench
