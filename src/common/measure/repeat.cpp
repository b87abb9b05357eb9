// Whether an operation is repeatable: the part of Operation that runs it twice on the same input.

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "common/measure/operation.h"

namespace fabricbench {
namespace {

constexpr std::size_t kPartBytes = std::size_t{64} << 10;

std::uint64_t hash_of(std::span<const std::byte> bytes) {
  std::uint64_t hash = bytes.size();
  for (std::size_t at = 0; at < bytes.size(); at += sizeof hash) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min(sizeof word, bytes.size() - at));
    hash = pattern::mix(hash ^ word);
  }
  return hash;
}

/// Calls `action(begin, bytes)` for consecutive parts of blocks, where each begins in bytes.
template <typename Action>
void for_each_part(const std::vector<ExpectedBlock>& blocks, std::size_t element, Action action) {
  for (const ExpectedBlock& block : blocks) {
    const std::size_t end = (block.begin + block.count) * element;
    for (std::size_t begin = block.begin * element; begin < end; begin += kPartBytes) {
      action(begin, std::min(kPartBytes, end - begin));
    }
  }
}

}  // namespace

std::optional<Unrepeated> Operation::repeat() {
  const std::vector<Fingerprint> first = run_on_rounding_input();
  const std::vector<Fingerprint> second = run_on_rounding_input();
  std::optional<Unrepeated> found;
  for (int local = 0; local < workspace_.ranks().local; ++local) {
    const auto rank = static_cast<std::size_t>(local);
    if (!case_.in_place) fill_input(local, workspace_.sent(local));
    if (first[rank] == second[rank]) continue;
    if (!found) found = difference(local, first[rank], second[rank]);
    ++found->ranks;
  }
  return found;
}

std::vector<Operation::Fingerprint> Operation::run_on_rounding_input() {
  const Ranks& ranks = workspace_.ranks();
  prepare(1);
  for (int local = 0; local < ranks.local; ++local) {
    const PatternTable table = PatternTable::rounding(case_.datatype, case_.reduction, ranks.first + local, ranks.all);
    fill_input(local, {table, 0});
  }
  start();
  wait();
  for (const LocalRank& rank : ranks_) rank.backend->settle();
  std::vector<Fingerprint> results;
  results.reserve(static_cast<std::size_t>(ranks.local));
  for (int local = 0; local < ranks.local; ++local) results.push_back(fingerprint(local));
  return results;
}

void Operation::fill_input(int local_rank, const SourceData& data) {
  const std::span<std::byte> pool = case_.in_place ? workspace_.recv(local_rank) : workspace_.send(local_rank);
  session_.memory(local_rank).fill(pool.first(used_bytes(1)), data.table, data.at(0));
}

Operation::Fingerprint Operation::fingerprint(int local_rank) {
  const LocalRank& rank = ranks_[static_cast<std::size_t>(local_rank)];
  const auto message = workspace_.recv(local_rank).subspan(rank.recv_begin * element_);
  std::vector<std::byte> copy(kPartBytes);
  Fingerprint hashes;
  for_each_part(test_.expected(case_.layout, rank.self), element_, [&](std::size_t begin, std::size_t bytes) {
    session_.memory(local_rank).copy_to_host(message.subspan(begin, bytes), copy.data());
    hashes.push_back(hash_of(std::span(copy).first(bytes)));
  });
  return hashes;
}

Unrepeated Operation::difference(int local_rank, const Fingerprint& first, const Fingerprint& second) const {
  const LocalRank& rank = ranks_[static_cast<std::size_t>(local_rank)];
  Unrepeated found{.rank = rank.self.rank};
  std::size_t part = 0;
  for_each_part(test_.expected(case_.layout, rank.self), element_, [&](std::size_t begin, std::size_t bytes) {
    const bool differs = first[part] != second[part];
    ++part;
    if (!differs || found.elements > 0) return;
    found.first_offset = begin / element_;
    found.elements = bytes / element_;
  });
  return found;
}

}  // namespace fabricbench
