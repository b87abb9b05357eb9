// All-to-all through network adapters, which the GPU drives itself (GIN): a put for each peer, whose arrival adds 1 to
// a signal of the receiver.
//
// Block b of a rank sends to every peer whose number is b modulo the blocks, so all that is for rank r arrives at
// signal r modulo the blocks, and the block of that number waits for it. A signal counts on from one operation to the
// next: its value is read before the first barrier, behind which the peers' puts of this operation begin.
#include "common/backends/nccl_device/lsa.cuh"

namespace fabricbench::nccl_device {
namespace {

using Kernel = void (*)(ncclDevComm, Work);

__device__ bool goes_by_network(const ncclDevComm& communicator, GinReach reach, int peer) {
  const int first = communicator.rank - communicator.lsaRank;
  return reach == GinReach::kAllRanks || peer < first || peer >= first + communicator.lsaSize;
}

/// Puts this rank's blocks of `block_bytes` for the peers of this block of threads.
__device__ void put_blocks(const ncclGin& gin, const Work& work, std::uint64_t block_bytes, GinReach reach) {
  const ncclDevComm& communicator = gin.comm;
  const auto step = static_cast<int>(gridDim.x * blockDim.x);
  for (int peer = static_cast<int>(threadIdx.x * gridDim.x + blockIdx.x); peer < communicator.nRanks; peer += step) {
    if (!goes_by_network(communicator, reach, peer)) continue;
    gin.put(ncclTeamWorld(communicator), peer, work.recv_window,
            work.recv_offset + static_cast<std::uint64_t>(communicator.rank) * block_bytes, work.send_window,
            work.send_offset + static_cast<std::uint64_t>(peer) * block_bytes, block_bytes,
            ncclGin_SignalInc{blockIdx.x});
  }
}

/// Without elements nothing is put, and no signal comes.
template <typename T, GinReach kReach>
__global__ void __launch_bounds__(kThreads, 1)
    all_to_all_kernel(const __grid_constant__ ncclDevComm communicator, const __grid_constant__ Work work) {
  const ncclGin gin(communicator, 0);
  const std::uint64_t before = gin.readSignal(blockIdx.x);
  ncclBarrierSession<ncclCoopCta> barrier(ncclCoopCta(), ncclTeamTagWorld(), gin, blockIdx.x);
  barrier.sync(ncclCoopCta(), cuda::memory_order_acq_rel, ncclGinFenceLevel::Relaxed);

  if (work.count > 0) put_blocks(gin, work, work.count * sizeof(T), kReach);
  if (kReach == GinReach::kBeyondLoads) store_blocks<T, Pack<T>>(communicator, work);

  const int stored = kReach == GinReach::kAllRanks ? 0 : communicator.lsaSize;
  const auto arrivals = static_cast<std::uint64_t>(work.count > 0 ? communicator.nRanks - stored : 0);
  if (blockIdx.x == static_cast<unsigned>(communicator.rank) % gridDim.x) {
    gin.waitSignal(ncclCoopCta(), blockIdx.x, before + arrivals);
  }
  gin.flush(ncclCoopCta());

  barrier.sync(ncclCoopCta(), cuda::memory_order_acq_rel, ncclGinFenceLevel::Relaxed);
}

template <typename T>
Kernel exchanging(GinReach reach) {
  return reach == GinReach::kAllRanks ? all_to_all_kernel<T, GinReach::kAllRanks>
                                      : all_to_all_kernel<T, GinReach::kBeyondLoads>;
}

Kernel all_to_all_for(DataType datatype, GinReach reach) {
  switch (facts(datatype).size) {
    case 1: return exchanging<std::uint8_t>(reach);
    case 2: return exchanging<std::uint16_t>(reach);
    case 4: return exchanging<std::uint32_t>(reach);
    default: return exchanging<std::uint64_t>(reach);
  }
}

}  // namespace

cudaError_t launch_gin_all_to_all(const Launch& launch, const Work& work, GinReach reach) {
  return start(all_to_all_for(launch.datatype, reach), launch, work);
}

cudaError_t load_gin_kernels(DataType datatype, GinReach reach) { return load(all_to_all_for(datatype, reach)); }

}  // namespace fabricbench::nccl_device
