// rdma_read_lat: a read of the other rank's memory, until it has completed.

#include "common/harness/program.h"
#include "common/options/verbs_programs.h"
#include "common/rdma/rdma_test.h"

namespace fabricbench {
namespace {

class RdmaReadLatency final : public RequestAlone {
 public:
  [[nodiscard]] std::string_view name() const override { return "rdma_read_lat"; }
  [[nodiscard]] Verb verb() const override { return Verb::kRead; }
};

}  // namespace

int rdma_read_lat(int argc, char** argv) {
  return run_program(
      verbs_program("rdma_read_lat", "Latency of a read of another rank's memory, until it has completed.",
                    {.verb = Verb::kRead, .latency = true}),
      RdmaReadLatency(), argc, argv);
}

}  // namespace fabricbench
