#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <set>

#include "../faulty_call.h"
#include "fake_cuda.h"
#include "state.h"

namespace fake_cuda {
namespace {

struct Block {
  std::size_t bytes;
  int device;
};

/// All blocks of cudaMalloc by address, and those of cudaHostAlloc. Never destroyed: streams may outlive main.
struct Blocks {
  std::mutex mutex;
  std::map<const std::byte*, Block> by_address;
  std::set<void*> pinned;
};

Blocks& blocks() {
  static auto* all = new Blocks;
  return *all;
}

constexpr std::size_t kAlignment = 256;  // of cudaMalloc
constexpr std::size_t kJunkBytes = std::size_t{1} << 20;

void* host_block(std::size_t bytes) {
  const std::size_t rounded = std::max<std::size_t>((bytes + kAlignment - 1) / kAlignment, 1) * kAlignment;
  return std::aligned_alloc(kAlignment, rounded);
}

bool fits(cudaMemcpyKind kind, const void* into, const void* from, std::size_t bytes) {
  const bool into_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  return (!into_device || is_device_memory(into, bytes)) && (!from_device || is_device_memory(from, bytes));
}

}  // namespace

bool lies_on(int device, const void* address, std::size_t bytes) {
  if (!is_device_memory(address, bytes)) return false;
  const std::lock_guard lock(blocks().mutex);
  return std::prev(blocks().by_address.upper_bound(static_cast<const std::byte*>(address)))->second.device == device;
}

bool is_device_memory(const void* address, std::size_t bytes) {
  const auto* from = static_cast<const std::byte*>(address);
  const std::lock_guard lock(blocks().mutex);
  auto block = blocks().by_address.upper_bound(from);
  if (block == blocks().by_address.begin()) return false;
  --block;
  return from + bytes <= block->first + block->second.bytes;
}

std::size_t allocated_on(int device) {
  const std::lock_guard lock(blocks().mutex);
  std::size_t bytes = 0;
  for (const auto& [address, block] : blocks().by_address) bytes += block.device == device ? block.bytes : 0;
  return bytes;
}

}  // namespace fake_cuda

using namespace fake_cuda;

extern "C" {

std::size_t fake_cuda_allocated() {
  const std::lock_guard lock(blocks().mutex);
  std::size_t bytes = 0;
  for (const auto& [address, block] : blocks().by_address) bytes += block.bytes;
  return bytes;
}

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  if (fails()) return report(cudaErrorUnknown);
  *pointer = nullptr;
  int device = 0;
  if (const cudaError_t status = cudaGetDevice(&device); status != cudaSuccess) return status;
  if (const cudaError_t status = make_context(device); status != cudaSuccess) return status;
  if (bytes == 0) return cudaSuccess;
  if (bytes > memory_of_a_device() || allocated_on(device) > memory_of_a_device() - bytes) {
    return report(cudaErrorMemoryAllocation);
  }
  void* block = host_block(bytes);
  if (block == nullptr) return report(cudaErrorMemoryAllocation);
  std::memset(block, 0xcd, std::min(bytes, kJunkBytes));  // what a device's memory holds is not zeros
  const std::lock_guard lock(blocks().mutex);
  blocks().by_address[static_cast<std::byte*>(block)] = {bytes, device};
  *pointer = block;
  return cudaSuccess;
}

cudaError_t cudaFree(void* pointer) {
  if (fails()) return report(cudaErrorUnknown);
  if (pointer == nullptr) return cudaSuccess;
  const std::lock_guard lock(blocks().mutex);
  if (blocks().by_address.erase(static_cast<std::byte*>(pointer)) == 0) return report(cudaErrorInvalidValue);
  std::free(pointer);
  return cudaSuccess;
}

cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned /*flags*/) {
  if (fails()) return report(cudaErrorUnknown);
  if (const cudaError_t status = make_context(current_device()); status != cudaSuccess) return status;
  *pointer = host_block(bytes);
  if (*pointer == nullptr) return report(cudaErrorMemoryAllocation);
  const std::lock_guard lock(blocks().mutex);
  blocks().pinned.insert(*pointer);
  return cudaSuccess;
}

cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) {
  if (fails()) return report(cudaErrorUnknown);
  return cudaHostAlloc(pointer, bytes, 0);
}

cudaError_t cudaFreeHost(void* pointer) {
  if (fails()) return report(cudaErrorUnknown);
  if (pointer == nullptr) return cudaSuccess;
  const std::lock_guard lock(blocks().mutex);
  if (blocks().pinned.erase(pointer) == 0) return report(cudaErrorInvalidValue);
  std::free(pointer);
  return cudaSuccess;
}

cudaError_t cudaHostGetDevicePointer(void** device_pointer, void* pointer, unsigned /*flags*/) {
  if (fails()) return report(cudaErrorUnknown);
  *device_pointer = pointer;
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* into, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  if (fails()) return report(cudaErrorUnknown);
  if (!fits(kind, into, from, bytes)) return report(cudaErrorInvalidValue);
  const char* name = kind == cudaMemcpyHostToDevice ? "h2d" : kind == cudaMemcpyDeviceToHost ? "d2h" : "d2d";
  const int device = fake_cuda_device_of(stream);
  return enqueue(stream, [=] { return copy({into, from, bytes, name}, device); });
}

cudaError_t cudaMemcpyPeerAsync(void* into, int into_device, const void* from, int from_device, std::size_t bytes,
                                cudaStream_t stream) {
  if (fails()) return report(cudaErrorUnknown);
  if (!lies_on(into_device, into, bytes) || !lies_on(from_device, from, bytes)) return report(cudaErrorInvalidValue);
  const int device = fake_cuda_device_of(stream);
  return enqueue(stream, [=] { return copy({into, from, bytes, "p2p"}, device); });
}

cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned /*flags*/) {
  if (fails()) return report(cudaErrorUnknown);
  if (const cudaError_t status = make_context(current_device()); status != cudaSuccess) return status;
  if (pointer == nullptr || bytes == 0) return report(cudaErrorInvalidValue);
  if (bytes > std::size_t{1} << 40) return report(cudaErrorMemoryAllocation);
  const std::lock_guard lock(blocks().mutex);
  return report(blocks().pinned.insert(pointer).second ? cudaSuccess : cudaErrorHostMemoryAlreadyRegistered);
}

cudaError_t cudaHostUnregister(void* pointer) {
  if (fails()) return report(cudaErrorUnknown);
  const std::lock_guard lock(blocks().mutex);
  return report(blocks().pinned.erase(pointer) == 1 ? cudaSuccess : cudaErrorHostMemoryNotRegistered);
}

cudaError_t cudaMemcpy(void* into, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  if (fails()) return report(cudaErrorUnknown);
  if (const cudaError_t status = cudaMemcpyAsync(into, from, bytes, kind, nullptr); status != cudaSuccess)
    return status;
  return drain(nullptr);
}

cudaError_t cudaMemsetAsync(void* into, int value, std::size_t bytes, cudaStream_t stream) {
  if (fails()) return report(cudaErrorUnknown);
  if (!is_device_memory(into, bytes)) return report(cudaErrorInvalidValue);
  return enqueue(stream, [=] {
    std::memset(into, value, bytes);
    return cudaSuccess;
  });
}

cudaError_t cudaMemset(void* into, int value, std::size_t bytes) {
  if (fails()) return report(cudaErrorUnknown);
  if (const cudaError_t status = cudaMemsetAsync(into, value, bytes, nullptr); status != cudaSuccess) return status;
  return drain(nullptr);
}
}
