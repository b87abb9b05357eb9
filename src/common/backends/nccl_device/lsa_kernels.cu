// All-reduce and all-to-all by loads and stores in all ranks' memory.
//
// Both begin with a barrier, because a rank may access the others' buffers only when their streams have reached this
// operation. Both end with one, because a rank's operation has completed only when all ranks have written their part of
// its buffer. The barriers of different blocks are independent: block b of a rank waits for block b of the others, and
// a kernel ends when all of its blocks have passed. Both barriers acquire and release, so that everybody after them
// sees the earlier work of streams and blocks.
#include "common/backends/nccl_device/lsa.cuh"

namespace fabricbench::nccl_device {
namespace {

using Kernel = void (*)(ncclDevComm, Work);
using Barrier = ncclLsaBarrierSession<ncclCoopCta>;

template <typename T, typename Unit>
__global__ void __launch_bounds__(kThreads, 1)
    all_reduce_kernel(const __grid_constant__ ncclDevComm communicator, const __grid_constant__ Work work) {
  Barrier barrier(ncclCoopCta(), communicator, ncclTeamTagLsa(), blockIdx.x);
  barrier.sync(ncclCoopCta(), cuda::memory_order_acq_rel);

  const Split split = split_of(work.send_offset, work.recv_offset, work.count, sizeof(T), sizeof(Unit));
  const Share share = share_among_ranks(here(), communicator.rank, communicator.nRanks);
  reduce_message<T, Unit, kAtOnce>(LsaBuffers{communicator, work}, split, share);

  barrier.sync(ncclCoopCta(), cuda::memory_order_acq_rel);
}

/// From this rank's memory to a peer's.
template <typename P>
struct Link {
  using Piece = P;
  const Piece* from;
  Piece* into;

  __device__ Piece load(std::uint64_t index) const { return load_piece(from + index); }
  __device__ void store(std::uint64_t index, const Piece& value) const { store_piece(into + index, value); }
};

/// One block of an all-to-all.
struct Block {
  const char* from;
  char* into;
  template <typename Piece>
  __device__ Link<Piece> link(std::uint64_t begin) const {
    return {reinterpret_cast<const Piece*>(from + begin), reinterpret_cast<Piece*>(into + begin)};
  }
};

template <typename T, typename Unit>
__global__ void __launch_bounds__(kThreads, 1)
    all_to_all_kernel(const __grid_constant__ ncclDevComm communicator, const __grid_constant__ Work work) {
  Barrier barrier(ncclCoopCta(), communicator, ncclTeamTagLsa(), blockIdx.x);
  barrier.sync(ncclCoopCta(), cuda::memory_order_acq_rel);

  const Share share = share_of_rank(here());
  const std::uint64_t block_bytes = work.count * sizeof(T);
  const int rank = communicator.rank;
  for (int turn = 0; turn < communicator.nRanks; ++turn) {
    const int peer = peer_at(turn, rank, communicator.nRanks);
    const std::uint64_t from = work.send_offset + static_cast<std::uint64_t>(peer) * block_bytes;
    const std::uint64_t into = work.recv_offset + static_cast<std::uint64_t>(rank) * block_bytes;
    const Block block{static_cast<const char*>(ncclGetLsaPointer(work.send_window, from, rank)),
                      static_cast<char*>(ncclGetLsaPointer(work.recv_window, into, peer))};
    copy_message<T, Unit, kAtOnce>(block, split_of(from, into, work.count, sizeof(T), sizeof(Unit)), share);
  }

  barrier.sync(ncclCoopCta(), cuda::memory_order_acq_rel);
}

template <typename T>
Kernel reducing(Width width) {
  return width == Width::kVector ? all_reduce_kernel<T, Pack<T>> : all_reduce_kernel<T, T>;
}

template <typename T>
Kernel exchanging(Width width) {
  return width == Width::kVector ? all_to_all_kernel<T, Pack<T>> : all_to_all_kernel<T, T>;
}

/// Signed integers are added as unsigned ones, whose overflow is defined and gives the same bits.
Kernel all_reduce_for(DataType datatype, Width width) {
  switch (datatype) {
    case DataType::kInt8:
    case DataType::kUint8: return reducing<std::uint8_t>(width);
    case DataType::kInt32:
    case DataType::kUint32: return reducing<std::uint32_t>(width);
    case DataType::kInt64:
    case DataType::kUint64: return reducing<std::uint64_t>(width);
    case DataType::kHalf: return reducing<__half>(width);
    case DataType::kFloat: return reducing<float>(width);
    case DataType::kDouble: return reducing<double>(width);
    case DataType::kBfloat16: return reducing<__nv_bfloat16>(width);
    case DataType::kF8e4m3:
    case DataType::kF8e5m2: break;
  }
  return nullptr;
}

Kernel all_to_all_for(DataType datatype, Width width) {
  switch (facts(datatype).size) {
    case 1: return exchanging<std::uint8_t>(width);
    case 2: return exchanging<std::uint16_t>(width);
    case 4: return exchanging<std::uint32_t>(width);
    default: return exchanging<std::uint64_t>(width);
  }
}

}  // namespace

cudaError_t launch_lsa_all_reduce(const Launch& launch, const Work& work) {
  return start(all_reduce_for(launch.datatype, launch.width), launch, work);
}

cudaError_t launch_lsa_all_to_all(const Launch& launch, const Work& work) {
  return start(all_to_all_for(launch.datatype, launch.width), launch, work);
}

cudaError_t load_lsa_kernels(DataType datatype, Width width) {
  const cudaError_t status = load(all_to_all_for(datatype, width));
  const Kernel kernel = all_reduce_for(datatype, width);
  return status != cudaSuccess || kernel == nullptr ? status : load(kernel);
}

}  // namespace fabricbench::nccl_device
