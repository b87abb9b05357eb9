// gpudirect_rdma_lat: a write into the other rank's memory and one back. A write counts when its reader has seen it: a
// kernel that polls a flag in GPU memory. The time is half of the round trip.

#include <string>
#include <utility>

#include "common/backends/rdma/verbs_sessions.h"

namespace fabricbench {
namespace {

/// Messages of 0 bytes can be seen too, by their number or their completion.
class GpuDirectLatency final : public PingPong {
 public:
  GpuDirectLatency(std::string name, Verb /*verb*/) : PingPong(std::move(name)) {}

  void configure(const Options& options) override {
    traits_.time_means = "half a round trip of messages " + what_counts(options);
  }

 private:
  static std::string what_counts(const Options& options) {
    switch (options.rdma.seen_by) {
      case SeenBy::kCompletion: return "whose completion the processor polled (cq)";
      case SeenBy::kFlush:
        return "whose completion the processor polled, and whose last bytes it then read back through the adapter "
               "(cq+flush)";
      case SeenBy::kReader: break;
    }
    return options.memory == MemoryKind::kCuda
               ? "that a kernel saw and reported to the processor (gpu)"
               : "that a thread in place of the GPU saw and reported to the processor (gpu)";
  }
};

}  // namespace

int gpudirect_rdma_lat(int argc, char** argv) {
  return run_verbs_program<GpuDirectLatency>(
      "gpudirect_rdma_lat",
      "Latency of a write into memory of another rank until its GPU, or a thread in its place, has seen it.",
      {.verb = Verb::kWrite, .latency = true, .seen_by = true}, argc, argv);
}

}  // namespace fabricbench
