// gpudirect_rdma_lat: a write into the other rank's memory and one back, each of which counts when the one that it is
// for has seen it: a kernel that spins on a flag in the GPU's memory. The time is half of the round trip.

#include <optional>
#include <string_view>

#include "common/harness/program.h"
#include "common/options/verbs_programs.h"
#include "common/rdma/rdma_test.h"

namespace fabricbench {
namespace {

class GpuDirectLatency final : public OnVerbs<PingPong> {
 public:
  [[nodiscard]] std::string_view name() const override { return "gpudirect_rdma_lat"; }
  [[nodiscard]] Verb verb() const override { return Verb::kWrite; }

  void configure(const Options& options) override {
    seen_by_ = options.rdma.seen_by;
    on_gpu_ = options.memory == MemoryKind::kCuda;
  }

  [[nodiscard]] std::string_view time_means() const override {
    switch (seen_by_) {
      case SeenBy::kCompletion: return "half a round trip of messages whose completion the processor polled (cq)";
      case SeenBy::kFlush:
        return "half a round trip of messages whose completion the processor polled, and whose last bytes it then read "
               "back through the adapter (cq+flush)";
      case SeenBy::kReader: break;
    }
    return on_gpu_ ? "half a round trip of messages that a kernel saw, which told the processor of it (gpu)"
                   : "half a round trip of messages that a thread in the GPU's place saw, which told the processor of "
                     "it (gpu)";
  }

 protected:
  [[nodiscard]] std::optional<SeenBy> seen_by() const override { return seen_by_; }

 private:
  SeenBy seen_by_ = SeenBy::kReader;
  bool on_gpu_ = false;
};

}  // namespace

int gpudirect_rdma_lat(int argc, char** argv) {
  return run_program(verbs_program("gpudirect_rdma_lat",
                                   "Latency of a write into GPU memory of another rank, until the GPU has seen it.",
                                   {.verb = Verb::kWrite, .latency = true, .seen_by = true}),
                     GpuDirectLatency(), argc, argv);
}

}  // namespace fabricbench
