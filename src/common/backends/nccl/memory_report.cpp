#include "common/backends/nccl/memory_report.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/backends/cuda/device.h"

namespace fabricbench::nccl {
namespace {

/// The decrease from `before` to `now` per device; 0 if others released memory meanwhile.
std::vector<Bytes> taken(const std::vector<Bytes>& before, const std::vector<Bytes>& now) {
  std::vector<Bytes> result(before.size(), 0);
  for (std::size_t i = 0; i < before.size(); ++i) result[i] = before[i] > now[i] ? before[i] - now[i] : 0;
  return result;
}

Bytes largest(const std::vector<Bytes>& values) { return *std::max_element(values.begin(), values.end()); }

}  // namespace

MemoryReport::MemoryReport(std::vector<int> devices, bool wanted)
    : devices_(wanted ? std::move(devices) : std::vector<int>{}),
      at_first_(free_now()),
      after_initialisation_(at_first_),
      in_buffers_(devices_.size(), 0),
      most_in_buffers_(in_buffers_) {}

void MemoryReport::end_initialisation() { after_initialisation_ = free_now(); }

std::vector<Bytes> MemoryReport::free_now() const {
  std::vector<Bytes> result;
  for (const int device : devices_) result.push_back(cuda::free_memory(device));
  return result;
}

void MemoryReport::buffers_taken(const std::vector<Bytes>& free_before) {
  const std::vector<Bytes> by_these = taken(free_before, free_now());
  for (std::size_t i = 0; i < by_these.size(); ++i) {
    in_buffers_[i] += by_these[i];
    most_in_buffers_[i] = std::max(most_in_buffers_[i], in_buffers_[i]);
  }
}

void MemoryReport::buffers_released(const std::vector<Bytes>& free_before) {
  const std::vector<Bytes> given_back = taken(free_now(), free_before);
  for (std::size_t i = 0; i < given_back.size(); ++i) in_buffers_[i] -= std::min(in_buffers_[i], given_back[i]);
}

std::string MemoryReport::text() const {
  if (devices_.empty()) return "";
  const Bytes initialisation = largest(taken(at_first_, after_initialisation_));
  const Bytes buffers = largest(most_in_buffers_);
  std::vector<Bytes> later = taken(after_initialisation_, free_now());
  for (std::size_t i = 0; i < later.size(); ++i) later[i] -= std::min(later[i], in_buffers_[i]);
  const Bytes collective = largest(later);
  return fmt::format("Initialization {} | User-Allocated {} | Collective {} | Total {}", memory_text(initialisation),
                     memory_text(buffers), memory_text(collective), memory_text(initialisation + buffers + collective));
}

std::string memory_text(Bytes bytes) {
  auto amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  constexpr const char* kUnits[] = {"B", "KB", "MB", "GB"};
  for (; amount >= 1024 && unit < 3; ++unit) amount /= 1024;
  return fmt::format("{:.{}f} {}", amount, amount < 10 ? 2 : amount < 100 ? 1 : 0, kUnits[unit]);
}

}  // namespace fabricbench::nccl
