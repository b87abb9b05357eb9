// rdma_write_lat: a write into the other rank's memory and one back; the time is half of the round trip.

#include "common/harness/program.h"
#include "common/options/verbs_programs.h"
#include "common/rdma/rdma_test.h"

namespace fabricbench {
namespace {

class RdmaWriteLatency final : public RequestPingPong {
 public:
  [[nodiscard]] std::string_view name() const override { return "rdma_write_lat"; }
  [[nodiscard]] Verb verb() const override { return Verb::kWrite; }
};

}  // namespace

int rdma_write_lat(int argc, char** argv) {
  return run_program(
      verbs_program("rdma_write_lat", "Latency of a write into another rank's memory: half of a round trip.",
                    {.verb = Verb::kWrite, .latency = true, .by_memory = true}),
      RdmaWriteLatency(), argc, argv);
}

}  // namespace fabricbench
