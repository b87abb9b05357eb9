// All-reduce by the switch: a load from a multicast address is a sum over all ranks' memory, and a store to it reaches
// all of them. A separate file, because the instructions need compute capability 9.0; barriers as in lsa_kernels.cu.
#include "common/backends/nccl_device/lsa.cuh"

namespace fabricbench::nccl_device {
namespace {

using Kernel = void (*)(ncclDevComm, Work);

/// The switch adds pairs of the 16-bit types in float; it cannot store a single one (PTX ISA, multimem).
struct Pair {
  std::uint32_t bits;
};

template <typename T>
__device__ Pair sum_of(const Pair* from);
template <typename T>
__device__ uint4 sum_of(const uint4* from);

template <>
__device__ Pair sum_of<float>(const Pair* from) {
  Pair sum{};
  asm volatile("multimem.ld_reduce.relaxed.sys.global.add.f32 %0, [%1];" : "=r"(sum.bits) : "l"(from) : "memory");
  return sum;
}
template <>
__device__ Pair sum_of<__half>(const Pair* from) {
  Pair sum{};
  asm volatile("multimem.ld_reduce.relaxed.sys.global.add.acc::f32.f16x2 %0, [%1];"
               : "=r"(sum.bits)
               : "l"(from)
               : "memory");
  return sum;
}
template <>
__device__ Pair sum_of<__nv_bfloat16>(const Pair* from) {
  Pair sum{};
  asm volatile("multimem.ld_reduce.relaxed.sys.global.add.acc::f32.bf16x2 %0, [%1];"
               : "=r"(sum.bits)
               : "l"(from)
               : "memory");
  return sum;
}

template <>
__device__ uint4 sum_of<float>(const uint4* from) {
  uint4 sum;
  asm volatile("multimem.ld_reduce.relaxed.sys.global.add.v4.f32 {%0,%1,%2,%3}, [%4];"
               : "=r"(sum.x), "=r"(sum.y), "=r"(sum.z), "=r"(sum.w)
               : "l"(from)
               : "memory");
  return sum;
}
template <>
__device__ uint4 sum_of<__half>(const uint4* from) {
  uint4 sum;
  asm volatile("multimem.ld_reduce.relaxed.sys.global.add.acc::f32.v4.f16x2 {%0,%1,%2,%3}, [%4];"
               : "=r"(sum.x), "=r"(sum.y), "=r"(sum.z), "=r"(sum.w)
               : "l"(from)
               : "memory");
  return sum;
}
template <>
__device__ uint4 sum_of<__nv_bfloat16>(const uint4* from) {
  uint4 sum;
  asm volatile("multimem.ld_reduce.relaxed.sys.global.add.acc::f32.v4.bf16x2 {%0,%1,%2,%3}, [%4];"
               : "=r"(sum.x), "=r"(sum.y), "=r"(sum.z), "=r"(sum.w)
               : "l"(from)
               : "memory");
  return sum;
}

__device__ void put_everywhere(Pair* into, Pair value) {
  asm volatile("multimem.st.relaxed.sys.global.b32 [%0], %1;" ::"l"(into), "r"(value.bits) : "memory");
}
__device__ void put_everywhere(uint4* into, const uint4& value) {
  asm volatile("multimem.st.relaxed.sys.global.v4.f32 [%0], {%1,%2,%3,%4};" ::"l"(into), "r"(value.x), "r"(value.y),
               "r"(value.z), "r"(value.w)
               : "memory");
}

/// From the sum over all ranks' memory to all of them.
template <typename T, typename P>
struct SwitchLink {
  using Piece = P;
  const Piece* from;
  Piece* into;

  __device__ Piece load(std::uint64_t index) const { return sum_of<T>(from + index); }
  __device__ void store(std::uint64_t index, const Piece& value) const { put_everywhere(into + index, value); }
};

/// The rest that does not fill a unit uses loads and stores.
template <typename T, typename Unit>
__global__ void __launch_bounds__(kThreads, 1)
    all_reduce_kernel(const __grid_constant__ ncclDevComm communicator, const __grid_constant__ Work work) {
  ncclLsaBarrierSession<ncclCoopCta> barrier(ncclCoopCta(), communicator, ncclTeamTagLsa(), blockIdx.x, true);
  barrier.sync(ncclCoopCta(), cuda::memory_order_acq_rel);

  const Split split = split_of(work.send_offset, work.recv_offset, work.count, sizeof(T), sizeof(Unit));
  const Share share = share_among_ranks(here(), communicator.rank, communicator.nRanks);
  const LsaBuffers buffers{communicator, work};
  const std::uint64_t head_bytes = split.head * sizeof(T);
  const std::uint64_t units_bytes = split.units * sizeof(Unit);
  const SwitchLink<T, Unit> link{
      static_cast<const Unit*>(
          ncclGetLsaMultimemPointer(work.send_window, work.send_offset + head_bytes, communicator)),
      static_cast<Unit*>(ncclGetLsaMultimemPointer(work.recv_window, work.recv_offset + head_bytes, communicator))};
  reduce_all<kAtOnce>(buffers.peers<T>(0), split.head, share);
  copy_all<kAtOnce>(link, split.units, share);
  reduce_all<1>(buffers.peers<T>(head_bytes + units_bytes), split.tail, share);

  barrier.sync(ncclCoopCta(), cuda::memory_order_acq_rel);
}

template <typename T>
Kernel reducing(Width width) {
  return width == Width::kVector ? all_reduce_kernel<T, uint4> : all_reduce_kernel<T, Pair>;
}

Kernel all_reduce_for(DataType datatype, Width width) {
  switch (datatype) {
    case DataType::kFloat: return reducing<float>(width);
    case DataType::kHalf: return reducing<__half>(width);
    case DataType::kBfloat16: return reducing<__nv_bfloat16>(width);
    default: return nullptr;
  }
}

}  // namespace

cudaError_t launch_multimem_all_reduce(const Launch& launch, const Work& work) {
  return start(all_reduce_for(launch.datatype, launch.width), launch, work);
}

cudaError_t load_multimem_kernels(DataType datatype, Width width) {
  const Kernel kernel = all_reduce_for(datatype, width);
  return kernel == nullptr ? cudaSuccess : load(kernel);
}

}  // namespace fabricbench::nccl_device
