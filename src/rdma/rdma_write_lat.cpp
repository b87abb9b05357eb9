// rdma_write_lat: a write into the other rank's memory and one back; the time is half of the round trip.

#include "common/harness/program.h"
#include "common/rdma/rdma_test.h"

namespace fabricbench {
namespace {

class RdmaWriteLatency final : public RequestPingPong {
 public:
  [[nodiscard]] std::string_view name() const override { return "rdma_write_lat"; }
  [[nodiscard]] Verb verb() const override { return Verb::kWrite; }
};

}  // namespace

int rdma_write_lat(int argc, char** argv) { return run_collective(RdmaWriteLatency(), argc, argv); }

}  // namespace fabricbench
