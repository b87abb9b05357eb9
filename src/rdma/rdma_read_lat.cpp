// rdma_read_lat: a read of the other rank's memory, until it has completed.

#include "common/harness/program.h"
#include "common/rdma/rdma_test.h"

namespace fabricbench {
namespace {

class RdmaReadLatency final : public RequestAlone {
 public:
  [[nodiscard]] std::string_view name() const override { return "rdma_read_lat"; }
  [[nodiscard]] Verb verb() const override { return Verb::kRead; }
};

}  // namespace

int rdma_read_lat(int argc, char** argv) { return run_collective(RdmaReadLatency(), argc, argv); }

}  // namespace fabricbench
