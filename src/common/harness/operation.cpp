#include "common/harness/operation.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace fabricbench {
namespace {

std::size_t last_offset(BufferPolicy policy, std::size_t stride, Bytes pool_bytes) {
  if (policy == BufferPolicy::kSame || stride == 0) return 0;
  return (pool_bytes / stride - 1) * stride;
}

/// What two checks found together.
std::optional<Mismatch> joined(std::optional<Mismatch> first, const std::optional<Mismatch>& second) {
  if (!first) return second;
  if (second) first->count += second->count;
  return first;
}

}  // namespace

std::string describe(const Case& which) {
  return fmt::format("{} {} {}, {}", readable_bytes(which.size), facts(which.datatype).name, name(which.reduction),
                     which.in_place ? "in place" : "out of place");
}

Operation::Operation(const Collective& collective, Backend& backend, Workspace& workspace, const Case& which,
                     BufferPolicy policy, int rank)
    : collective_(collective),
      backend_(backend),
      workspace_(workspace),
      case_(which),
      rank_(rank),
      element_(facts(which.datatype).size),
      stride_(which.size),
      last_offset_(last_offset(policy, stride_, workspace.pool_bytes())),
      send_(which.in_place ? workspace.recv().data() : workspace.send().data()),
      recv_(workspace.recv().data()),
      operands_{send_, recv_, which.layout.count, which.datatype, which.reduction, which.root} {}

void Operation::prepare(std::int64_t starts) {
  offset_ = 0;
  if (case_.in_place) {
    workspace_.sent().fill(workspace_.recv().first(used_bytes(starts)), 0);
  } else {
    std::memset(recv_ + offset_of(starts - 1), pattern::kPoisonByte, case_.layout.recv_count * element_);
  }
  std::memset(recv_ + used_bytes(starts), pattern::kGuardByte, kGuardBytes);
}

std::optional<Mismatch> Operation::check(std::int64_t starts) {
  std::optional<Mismatch> found;
  const std::size_t offset = offset_of(starts - 1);
  const auto message = workspace_.recv().subspan(offset);
  for (const ExpectedBlock& block : collective_.expected(case_.layout, rank_)) {
    std::optional<PatternTable> made;
    auto wrong =
        table_of(block, made)
            .check(message.subspan(block.begin * element_, block.count * element_), offset / element_ + block.position);
    if (wrong) wrong->first_offset += block.begin;
    found = joined(std::move(found), wrong);
  }
  return joined(std::move(found), check_guard(starts));
}

std::optional<Mismatch> Operation::check_guard(std::int64_t starts) {
  const auto guard = workspace_.recv().subspan(used_bytes(starts), kGuardBytes);
  const auto intact = [](std::byte byte) { return byte == std::byte{pattern::kGuardByte}; };
  const auto broken = std::find_if_not(guard.begin(), guard.end(), intact);
  if (broken == guard.end()) return std::nullopt;
  Mismatch found;
  found.count = static_cast<std::uint64_t>(guard.end() - broken - std::count_if(broken, guard.end(), intact));
  found.first_offset = case_.layout.recv_count + static_cast<std::uint64_t>(broken - guard.begin()) / element_;
  found.expected = "nothing written behind the message";
  found.got = fmt::format("byte {:#04x}", std::to_integer<int>(*broken));
  return found;
}

const PatternTable& Operation::table_of(const ExpectedBlock& block, std::optional<PatternTable>& made) const {
  if (block.source == ExpectedBlock::kReduced) return workspace_.reduced();
  if (block.source == rank_) return workspace_.sent();
  return made.emplace(workspace_.sent_by(block.source));
}

/// The place of the buffers of the `start`-th operation, from 0.
std::size_t Operation::offset_of(std::int64_t start) const {
  if (last_offset_ == 0) return 0;
  return static_cast<std::size_t>(start) % (last_offset_ / stride_ + 1) * stride_;
}

/// Bytes from the beginning of the pool that `starts` operations touch.
std::size_t Operation::used_bytes(std::int64_t starts) const {
  if (stride_ == 0) return 0;
  return std::min(static_cast<std::size_t>(starts - 1) * stride_, last_offset_) + stride_;
}

}  // namespace fabricbench
