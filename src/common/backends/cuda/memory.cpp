#include "common/backends/cuda/memory.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "common/backends/cuda/device.h"
#include "common/core/error.h"
#include "common/core/pattern_table.h"

namespace fabricbench::cuda {
namespace {

constexpr std::size_t kLargestElement = 8;
constexpr std::size_t kTableBytes = 2 * pattern::kPeriod * kLargestElement / 256 * 256 + 256;
constexpr std::size_t kTables = 16;  // a case needs two, or a few more with many sources

DeviceBlock allocate_on(int device, std::size_t bytes) {
  const DeviceGuard guard(device);
  void* block = nullptr;
  const cudaError_t status = cudaMalloc(&block, bytes);
  if (status == cudaErrorMemoryAllocation) throw_no_memory(device, bytes);
  check(status, "cudaMalloc");
  return DeviceBlock(block);
}

PinnedBlock allocate_pinned(int device, std::size_t bytes) {
  const DeviceGuard guard(device);
  void* block = nullptr;
  check(cudaHostAlloc(&block, bytes, cudaHostAllocPortable), "cudaHostAlloc");
  return PinnedBlock(block);
}

PatternSource source_of(const PatternTable& table, PatternPosition place) {
  return {place.position, place.shift, static_cast<std::uint32_t>(facts(table.type()).size)};
}

}  // namespace

void throw_no_memory(int device, std::size_t bytes) {
  cudaGetLastError();  // clears the error, which is reported here
  throw Error(ExitStatus::kMissing,
              fmt::format("cannot allocate {} on CUDA device {}, which has {} of its {} free; lower --max-bytes",
                          readable_bytes(bytes), device, readable_bytes(free_memory(device)),
                          readable_bytes(device_facts(device).memory)));
}

CudaMemory::CudaMemory(DeviceStream stream, Seconds limit)
    : stream_(stream),
      limit_(limit),
      table_memory_(allocate_on(stream.device, kTables * kTableBytes)),
      found_(allocate_on(stream.device, sizeof(CheckResult))),
      found_host_(allocate_pinned(stream.device, sizeof(CheckResult))) {}

void CudaMemory::set(std::span<std::byte> buffer, int byte) {
  const DeviceGuard guard(stream_.device);
  if (buffer.empty()) return;
  cuda::check(cudaMemsetAsync(buffer.data(), byte, buffer.size(), stream_.stream), "cudaMemsetAsync");
  wait();
}

void CudaMemory::fill(std::span<std::byte> buffer, const PatternTable& table, PatternPosition place) {
  const DeviceGuard guard(stream_.device);
  if (buffer.empty()) return;
  const Vector16* elements = uploaded(table);
  cuda::check(launch_fill(buffer.data(), buffer.size(), elements, source_of(table, place), stream_.stream),
              "launch_fill");
  wait();
}

std::optional<Mismatch> CudaMemory::check(std::span<const std::byte> buffer, const PatternTable& table,
                                          PatternPosition place) {
  if (buffer.empty()) return std::nullopt;
  const CheckResult found = compare(buffer, table, place);
  if (found.count == 0) return std::nullopt;
  const std::uint64_t first = ~found.inverted_first;
  const std::size_t size = facts(table.type()).size;
  std::array<std::byte, kLargestElement> got{};
  copy_to_host(buffer.subspan(first * size, size), got.data());
  return Mismatch{found.count, first, element_text(table.type(), table.element(place, first).data()),
                  element_text(table.type(), got.data())};
}

void CudaMemory::copy_to_host(std::span<const std::byte> from, std::byte* into) {
  const DeviceGuard guard(stream_.device);
  if (from.empty()) return;
  wait();  // because copying to memory that is not pinned blocks in the library without a limit
  cuda::check(cudaMemcpyAsync(into, from.data(), from.size(), cudaMemcpyDeviceToHost, stream_.stream),
              "cudaMemcpyAsync");
  wait();
}

void CudaMemory::copy_from_host(std::span<const std::byte> from, std::byte* into) {
  const DeviceGuard guard(stream_.device);
  if (from.empty()) return;
  cuda::check(cudaMemcpyAsync(into, from.data(), from.size(), cudaMemcpyHostToDevice, stream_.stream),
              "cudaMemcpyAsync");
  wait();
}

std::byte* CudaMemory::allocate(std::size_t bytes) {
  return static_cast<std::byte*>(allocate_on(stream_.device, std::max<std::size_t>(bytes, 1)).release());
}

void CudaMemory::release(std::byte* block) noexcept {
  if (cudaFree(block) != cudaSuccess)
    cudaGetLastError();  // clears an earlier failure of the device, which was reported already
}

CheckResult CudaMemory::compare(std::span<const std::byte> buffer, const PatternTable& table, PatternPosition place) {
  const DeviceGuard guard(stream_.device);
  const Vector16* elements = uploaded(table);
  auto* found = static_cast<CheckResult*>(found_.get());
  cuda::check(cudaMemsetAsync(found, 0, sizeof *found, stream_.stream), "cudaMemsetAsync");
  cuda::check(launch_check(buffer.data(), buffer.size(), elements, source_of(table, place), found, stream_.stream),
              "launch_check");
  cuda::check(cudaMemcpyAsync(found_host_.get(), found, sizeof *found, cudaMemcpyDeviceToHost, stream_.stream),
              "cudaMemcpyAsync");
  wait();
  CheckResult result{};
  std::memcpy(&result, found_host_.get(), sizeof result);
  return result;
}

/// The table's address on the device. Uploads it if necessary, in place of the least recently used one once all places
/// are taken.
const Vector16* CudaMemory::uploaded(const PatternTable& table) {
  const auto elements = table.two_periods();
  const auto period = elements.first(elements.size() / 2);
  auto entry = std::find_if(tables_.begin(), tables_.end(), [&](const Uploaded& known) {
    return known.period.size() == period.size() && std::memcmp(known.period.data(), period.data(), period.size()) == 0;
  });
  if (entry == tables_.end()) {
    if (tables_.size() < kTables) tables_.emplace_back();
    entry = std::min_element(tables_.begin(), tables_.end(),
                             [](const Uploaded& a, const Uploaded& b) { return a.last_used < b.last_used; });
    entry->period.clear();  // invalid in case the copy fails
    cuda::check(
        cudaMemcpyAsync(place_of(entry), elements.data(), elements.size(), cudaMemcpyHostToDevice, stream_.stream),
        "cudaMemcpyAsync");
    entry->period.assign(period.begin(), period.end());
  }
  entry->last_used = ++uses_;
  return place_of(entry);
}

Vector16* CudaMemory::place_of(std::vector<Uploaded>::iterator entry) {
  auto* places = static_cast<std::byte*>(table_memory_.get());
  const auto index = static_cast<std::size_t>(entry - tables_.begin());
  return static_cast<Vector16*>(static_cast<void*>(places + index * kTableBytes));
}

void CudaMemory::wait() const { wait_for({&stream_, 1}, limit_); }

}  // namespace fabricbench::cuda
