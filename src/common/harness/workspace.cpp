#include "common/harness/workspace.h"

#include <cstdlib>

#include <fmt/format.h>

#include "common/core/error.h"

namespace fabricbench {
namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr Bytes kLargestElement = 8;

std::byte* allocate(std::size_t size) {
  const std::size_t pages = (size + kPageBytes - 1) / kPageBytes * kPageBytes;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(kPageBytes, pages));
  if (memory == nullptr) {
    throw Error(ExitStatus::kMissing, fmt::format("cannot allocate a buffer of {}; lower -e", readable_bytes(size)));
  }
  return memory;
}

}  // namespace

HostBuffer::HostBuffer(Bytes size) : size_(size), memory_(allocate(size_)) {}

void HostBuffer::Free::operator()(std::byte* memory) const { std::free(memory); }

Bytes allocated_bytes(Bytes pool_bytes, std::int64_t unalign) {
  return pool_bytes + static_cast<Bytes>(unalign) * kLargestElement + kGuardBytes;
}

Workspace::Workspace(Bytes pool_bytes, bool separate_buffers, std::int64_t unalign, int rank, int ranks)
    : pool_bytes_(pool_bytes),
      unalign_(unalign),
      rank_(rank),
      ranks_(ranks),
      recv_(allocated_bytes(pool_bytes, unalign)) {
  if (separate_buffers) send_.emplace(allocated_bytes(pool_bytes, unalign));
}

void Workspace::use(DataType datatype, Reduction reduction) {
  datatype_ = datatype;
  reduction_ = reduction;
  sent_.emplace(sent_by(rank_));
  reduced_.emplace(PatternTable::reduced(datatype, reduction, ranks_));
  if (send_) sent_->fill(send().first(pool_bytes_ - pool_bytes_ % facts(datatype).size), 0);
}

PatternTable Workspace::sent_by(int rank) const { return PatternTable::sent(datatype_, reduction_, rank, ranks_); }

std::span<std::byte> Workspace::shifted(HostBuffer& buffer) const {
  return buffer.bytes().subspan(static_cast<std::size_t>(unalign_) * facts(datatype_).size);
}

}  // namespace fabricbench
