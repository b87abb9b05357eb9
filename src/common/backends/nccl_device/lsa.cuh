// Memory access by loads and stores (NCCL: load/store accessible, LSA), and the launch of these kernels.
#pragma once

#include <bit>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "common/backends/nccl_device/device_work.h"
#include "common/backends/nccl_device/kernels.h"

namespace fabricbench::nccl_device {

inline constexpr unsigned kThreads = 512;  // per block, as in nccl-tests
inline constexpr unsigned kAtOnce = 4;     // pieces in flight per thread, to keep enough loads in flight

template <>
struct Summed<__half> {
  using Sum = float;
  static __device__ void add(Sum& sum, __half value) { sum += __half2float(value); }
  static __device__ __half rounded(Sum sum) { return __float2half_rn(sum); }
};

template <>
struct Summed<__nv_bfloat16> {
  using Sum = float;
  static __device__ void add(Sum& sum, __nv_bfloat16 value) { sum += __bfloat162float(value); }
  static __device__ __nv_bfloat16 rounded(Sum sum) { return __float2bfloat16_rn(sum); }
};

template <typename T>
__device__ T load_piece(const T* from) {
  return *from;
}
template <typename T>
__device__ Pack<T> load_piece(const Pack<T>* from) {  // a single load for every T
  const uint4 raw = *reinterpret_cast<const uint4*>(from);
  return *reinterpret_cast<const Pack<T>*>(&raw);
}

template <typename T>
__device__ void store_piece(T* into, const T& value) {
  *into = value;
}
template <typename T>
__device__ void store_piece(Pack<T>* into, const Pack<T>& value) {
  *reinterpret_cast<uint4*>(into) = *reinterpret_cast<const uint4*>(&value);
}

/// A range of every rank's buffers, `begin` bytes after the message's start.
template <typename P>
class LsaPeers {
 public:
  using Piece = P;

  __device__ LsaPeers(const ncclDevComm& communicator, const Work& work, std::uint64_t begin)
      : communicator_(communicator), work_(work), begin_(begin) {}

  __device__ int rank() const { return communicator_.rank; }
  __device__ int ranks() const { return communicator_.nRanks; }
  __device__ Piece load(int peer, std::uint64_t index) const {
    return load_piece(
        static_cast<const Piece*>(ncclGetLsaPointer(work_.send_window, work_.send_offset + begin_, peer)) + index);
  }
  __device__ void store(int peer, std::uint64_t index, const Piece& value) const {
    store_piece(static_cast<Piece*>(ncclGetLsaPointer(work_.recv_window, work_.recv_offset + begin_, peer)) + index,
                value);
  }

 private:
  const ncclDevComm& communicator_;
  const Work& work_;
  std::uint64_t begin_;
};

/// All ranks' buffers of an operation.
struct LsaBuffers {
  const ncclDevComm& communicator;
  const Work& work;
  template <typename Piece>
  __device__ LsaPeers<Piece> peers(std::uint64_t begin) const {
    return {communicator, work, begin};
  }
};

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

__device__ inline Position here() { return {threadIdx.x, kThreads, blockIdx.x, gridDim.x}; }

/// Stores this rank's blocks of an all-to-all in the memory of all ranks of its LSA team, which are consecutive.
template <typename T, typename Unit>
__device__ void store_blocks(const ncclDevComm& communicator, const Work& work) {
  const Share share = share_of_rank(here());
  const std::uint64_t block_bytes = work.count * sizeof(T);
  const int rank = communicator.lsaRank;
  const int first = communicator.rank - rank;
  const std::uint64_t into = work.recv_offset + static_cast<std::uint64_t>(communicator.rank) * block_bytes;
  for (int turn = 0; turn < communicator.lsaSize; ++turn) {
    const int peer = peer_at(turn, rank, communicator.lsaSize);
    const std::uint64_t from = work.send_offset + static_cast<std::uint64_t>(first + peer) * block_bytes;
    const Block block{static_cast<const char*>(ncclGetLsaPointer(work.send_window, from, rank)),
                      static_cast<char*>(ncclGetLsaPointer(work.recv_window, into, peer))};
    copy_message<T, Unit, kAtOnce>(block, split_of(from, into, work.count, sizeof(T), sizeof(Unit)), share);
  }
}

/// Like `kernel<<<ctas, kThreads, 0, stream>>>(communicator, work)`, whose error could be confused with another call's.
inline cudaError_t start(void (*kernel)(ncclDevComm, Work), const Launch& launch, const Work& work) {
  if (kernel == nullptr) return cudaErrorInvalidValue;
  ncclDevComm communicator = launch.communicator;
  Work own = work;
  void* arguments[] = {&communicator, &own};
  return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(launch.ctas), dim3(kThreads), arguments, 0,
                          launch.stream);
}

inline cudaError_t load(void (*kernel)(ncclDevComm, Work)) {
  if (kernel == nullptr) return cudaErrorInvalidValue;
  cudaFuncAttributes attributes{};
  return cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel));
}

}  // namespace fabricbench::nccl_device
