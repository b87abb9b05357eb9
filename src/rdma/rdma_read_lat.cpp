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
}  // namespace fabricbench

int main(int argc, char** argv) { return fabricbench::run_collective(fabricbench::RdmaReadLatency(), argc, argv); }
