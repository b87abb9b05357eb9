#include "cluster/tools/other_programs.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace fabricbench::cluster {
namespace {

constexpr std::array kPrograms = {
    OtherProgram{"OSU", "osu_latency", "send_recv_lat"},
    OtherProgram{"OSU", "osu_bw", "send_recv_bw"},
    OtherProgram{"OSU", "osu_bibw", "send_recv_bibw"},
    OtherProgram{"OSU", "osu_mbw_mr", "multi_pair_bw"},
    OtherProgram{"OSU", "osu_allreduce", "all_reduce_perf"},
    OtherProgram{"OSU", "osu_allgather", "all_gather_perf"},
    OtherProgram{"OSU", "osu_alltoall", "alltoall_perf"},
    OtherProgram{"OSU", "osu_alltoallv", "alltoallv_perf"},
    OtherProgram{"OSU", "osu_barrier", "barrier_perf"},
    OtherProgram{"OSU", "osu_bcast", "broadcast_perf"},
    OtherProgram{"OSU", "osu_gather", "gather_perf"},
    OtherProgram{"OSU", "osu_reduce", "reduce_perf"},
    OtherProgram{"OSU", "osu_reduce_scatter", "reduce_scatter_perf"},
    OtherProgram{"OSU", "osu_scatter", "scatter_perf"},
    OtherProgram{"perftest", "ib_write_bw", "rdma_write_bw"},
    OtherProgram{"perftest", "ib_write_lat", "rdma_write_lat"},
    OtherProgram{"perftest", "ib_read_bw", "rdma_read_bw"},
    OtherProgram{"perftest", "ib_read_lat", "rdma_read_lat"},
    OtherProgram{"perftest", "ib_send_bw", "rdma_send_bw"},
    OtherProgram{"perftest", "ib_send_lat", "rdma_send_lat"},
    OtherProgram{"perftest", "ib_atomic_bw", "rdma_atomic_bw"},
    OtherProgram{"perftest", "ib_atomic_lat", "rdma_atomic_lat"},
    OtherProgram{"iperf3", "iperf3", "tcp_bw"},
    OtherProgram{"iperf", "iperf", "tcp_bw"},
    OtherProgram{"IMB", "IMB-MPI1", "send_recv_lat", "PingPong; Uniband is send_recv_bw, Allreduce all_reduce_perf"},
    OtherProgram{"UCX", "ucx_perftest", "send_recv_bw", "tag_bw, of an MPI over UCX; tag_lat is send_recv_lat"},
    OtherProgram{"qperf", "qperf", "tcp_bw", "tcp_bw; tcp_lat is tcp_lat, rc_bw rdma_send_bw"},
    OtherProgram{"mpiGraph", "mpiGraph", "pairwise_bw"},
    OtherProgram{"nvbandwidth", "nvbandwidth", "gpu_copy_bw"},
    OtherProgram{"CUDA's samples", "bandwidthTest", "gpu_copy_bw"},
    OtherProgram{"CUDA's samples", "p2pBandwidthLatencyTest", "gpu_copy_bw"},
    OtherProgram{"librdmacm", "cmtime", "rdma_cm_connect"},
};

}  // namespace

std::span<const OtherProgram> other_programs() { return kPrograms; }

std::string of_test(const OtherProgram& program) {
  return program.test.empty() ? "" : fmt::format(" ({})", program.test);
}

std::string other_program_here(std::string_view given) {
  const auto* const other =
      std::find_if(kPrograms.begin(), kPrograms.end(), [&](const OtherProgram& each) { return each.name == given; });
  if (other == kPrograms.end()) return "";
  const std::string of_tool = other->tool == other->name ? "" : fmt::format(" of {}", other->tool);
  return fmt::format("; {}{} is {} here{}", other->name, of_tool, other->ours, of_test(*other));
}

}  // namespace fabricbench::cluster
