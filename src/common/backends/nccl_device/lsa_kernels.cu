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

template <typename T, typename Unit>
__global__ void __launch_bounds__(kThreads, 1)
    all_to_all_kernel(const __grid_constant__ ncclDevComm communicator, const __grid_constant__ Work work) {
  Barrier barrier(ncclCoopCta(), communicator, ncclTeamTagLsa(), blockIdx.x);
  barrier.sync(ncclCoopCta(), cuda::memory_order_acq_rel);

  store_blocks<T, Unit>(communicator, work);

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
