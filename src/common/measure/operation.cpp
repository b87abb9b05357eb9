#include "common/measure/operation.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <numeric>
#include <span>

#include <fmt/format.h>

#include "common/core/clock.h"
#include "common/record/row.h"

namespace fabricbench {
namespace {

std::size_t last_offset(BufferPolicy policy, std::size_t stride, Bytes pool_bytes) {
  if (policy == BufferPolicy::kSame || stride == 0) return 0;
  return (pool_bytes / stride - 1) * stride;
}

/// The findings of two checks of one buffer combined.
std::optional<Mismatch> joined(std::optional<Mismatch> first, const std::optional<Mismatch>& second) {
  if (!first) return second;
  if (second) first->count += second->count;
  return first;
}

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

void WrongData::add(const std::optional<Mismatch>& wrong) {
  if (!wrong) return;
  if (elements == 0) {
    first = *wrong;
  } else {
    first.count += wrong->count;
  }
  elements += wrong->count;
}

void WrongData::add(const WrongData& other) {
  if (other.elements == 0) return;
  if (elements == 0) {
    *this = other;
    return;
  }
  elements += other.elements;
  messages += other.messages;
}

std::string describe(const Case& which, RowKind row_kind) {
  if (is_of_pairs(row_kind)) return "messages of " + readable_bytes(which.size);
  return fmt::format("{} {}{}{}, {}", readable_bytes(which.size), facts(which.datatype).name,
                     which.reduction == Reduction::kNone ? "" : fmt::format(" {}", name(which.reduction)),
                     which.root < 0 ? "" : fmt::format(" root {}", which.root),
                     which.in_place ? "in place" : "out of place");
}

Operation::Operation(const Test& test, Session& session, Workspace& workspace, const Case& which, BufferPolicy policy,
                     std::int64_t aggregated, bool apart)
    : test_(test),
      session_(session),
      workspace_(workspace),
      case_(which),
      aggregated_(aggregated),
      element_(facts(which.datatype).size),
      stride_(apart ? session.distance_of(which.size) : which.size),
      last_offset_(last_offset(apart ? BufferPolicy::kRotate : policy, stride_, workspace.pool_bytes())),
      apart_(apart),
      stages_(test.stages(workspace.ranks().all)),
      windows_(test.windows()) {
  for (int local = 0; local < workspace.ranks().local; ++local) ranks_.push_back(make_rank(local));
  for (LocalRank& rank : ranks_) {
    rank.operands.counts = rank.counts ? &*rank.counts : nullptr;
    rank.operands.receiving = receiving_.get();
  }
}

Operation::LocalRank Operation::make_rank(int local_rank) {
  const Ranks& ranks = workspace_.ranks();
  const Participant self{.rank = ranks.first + local_rank,
                         .ranks = ranks.all,
                         .root = case_.root,
                         .in_place = case_.in_place,
                         .element_bytes = element_,
                         .conventions = session_.conventions()};
  LocalRank rank{&session_.backend(local_rank),    nullptr, workspace_.recv(local_rank).data(), 0, self,
                 test_.counts(case_.layout, self), {}};
  if (case_.in_place) {
    const InPlace place = test_.in_place(case_.layout, self).value_or(InPlace{});
    rank.send = rank.recv + place.send_begin * element_;
    rank.recv += place.recv_begin * element_;
    rank.recv_begin = place.recv_begin;
  } else {
    rank.send = workspace_.send(local_rank).data();
  }
  rank.operands = {
      rank.send, rank.recv, case_.layout.count, case_.datatype, case_.reduction, case_.root, self.rank, self.ranks, 0,
      nullptr,   nullptr};
  return rank;
}

void Operation::prepare(std::int64_t starts) {
  offset_ = 0;
  for (const LocalRank& rank : ranks_) rank.backend->announce(message_bytes());
  if (apart_) lay_out_messages(starts);
  for (int local = 0; local < workspace_.ranks().local; ++local) {
    Memory& memory = session_.memory(local);
    const std::span<std::byte> pool = workspace_.recv(local);
    if (case_.in_place) {
      const SourceData own = workspace_.sent(local);
      memory.fill(pool.first(used_bytes(starts)), own.table, own.at(0));
    } else if (apart_) {
      memory.set(pool.first(used_bytes(starts)), pattern::kPoisonByte);
    } else {
      memory.set(pool.subspan(offset_of(starts - 1), case_.layout.recv_count * element_), pattern::kPoisonByte);
    }
    memory.set(pool.subspan(guard_begin(starts), kGuardBytes), pattern::kGuardByte);
    const std::span<std::byte> sent = case_.in_place ? pool : workspace_.send(local);
    ranks_[static_cast<std::size_t>(local)].backend->prepare(sent, pool);
  }
}

/// Starts a stage on all ranks of this process as one group, then the next stage.
void Operation::start_on_all() {
  for (int stage = 0; stage < stages_; ++stage) {
    session_.begin_group();
    for (LocalRank& rank : ranks_) start_on(rank, stage);
    session_.end_group();
  }
  offset_ = next_offset();
}

std::vector<RankTraffic> Operation::traffic() const {
  std::vector<RankTraffic> traffic;
  for (int rank = 0; rank < workspace_.ranks().all; ++rank) {
    const Participant self{.rank = rank, .ranks = workspace_.ranks().all, .element_bytes = element_};
    const auto counts = test_.counts(case_.layout, self);
    if (!counts) return {};
    const auto sum = [this](const auto& all) {
      return element_ * std::accumulate(all.begin(), all.end(), std::uint64_t{0});
    };
    traffic.push_back({sum(counts->send_counts), sum(counts->recv_counts)});
  }
  return traffic;
}

std::int64_t Operation::run_once() {
  const std::int64_t starts = is_windowed() ? aggregated_ : 1;
  prepare(starts);
  if (is_windowed()) {
    start_iteration();
  } else {
    start();
  }
  wait();
  return starts;
}

/// Operations of several stages are not grouped: a stage must not be launched together with one that needs its data.
void Operation::start_aggregated() {
  if (is_windowed()) receiving_->began = now();
  if (stages_ == 1) session_.begin_group();
  if (are_alike()) {
    start_many_on(ranks_.front());
  } else {
    for (std::int64_t i = 0; i < aggregated_; ++i) start();
  }
  if (stages_ == 1) session_.end_group();
  if (is_windowed()) finish_window();
}

/// The answer to a window must not be launched together with the window.
void Operation::finish_window() {
  for (const LocalRank& rank : ranks_) windows_->finish(*rank.backend, rank.operands);
  session_.begin_group();
  for (const LocalRank& rank : ranks_) windows_->answer(*rank.backend, rank.operands);
  session_.end_group();
}

std::optional<WrongData> Operation::check(std::int64_t starts) {
  WrongData found;
  int ranks = 0;
  for (const LocalRank& rank : ranks_) rank.backend->wait_for_remote_writes();
  for (int local = 0; local < workspace_.ranks().local; ++local) {
    const WrongData wrong = check_rank(local, starts);
    if (wrong.elements > 0) ++ranks;
    found.add(wrong);
  }
  found.ranks = ranks;
  return ranks > 0 ? std::optional(found) : std::nullopt;
}

WrongData Operation::check_rank(int local_rank, std::int64_t starts) {
  WrongData found;
  if (apart_) {
    found = check_messages(local_rank, starts);
  } else {
    found.add(check_blocks(local_rank, offset_of(starts - 1)));
  }
  found.add(check_guard(local_rank, starts));
  found.add(ranks_[static_cast<std::size_t>(local_rank)].backend->own_mismatch());
  found.rank = workspace_.ranks().first + local_rank;
  return found;
}

std::optional<Mismatch> Operation::check_blocks(int local_rank, std::size_t offset) {
  std::optional<Mismatch> found;
  const LocalRank& rank = ranks_[static_cast<std::size_t>(local_rank)];
  const auto message = workspace_.recv(local_rank).subspan(offset + rank.recv_begin * element_);
  for (const ExpectedBlock& block : test_.expected(case_.layout, rank.self)) {
    const auto [data, position] = expected_in(block, rank, offset);
    auto wrong =
        session_.memory(local_rank)
            .check(message.subspan(block.begin * element_, block.count * element_), data.table, data.at(position));
    if (wrong) wrong->first_offset += block.begin;
    found = joined(std::move(found), wrong);
  }
  return found;
}

Operation::Expected Operation::expected_in(const ExpectedBlock& block, const LocalRank& rank,
                                           std::size_t offset) const {
  const bool reduced = block.source == ExpectedBlock::kReduced;
  Participant source = rank.self;
  source.rank = reduced ? rank.self.rank : block.source;
  const std::uint64_t position = offset / element_ + send_begin_of(source) + block.position;
  return {reduced ? SourceData{workspace_.reduced(), 0} : workspace_.moved_from(block.source), position};
}

SeenBits Operation::expected_bits() const {
  SeenBits seen(case_.datatype);
  for (const LocalRank& rank : ranks_) {
    std::uint64_t left = pattern::kPeriod;
    for (const ExpectedBlock& block : test_.expected(case_.layout, rank.self)) {
      const std::uint64_t elements = std::min(left, block.count);
      if (elements == 0) continue;
      const auto [data, position] = expected_in(block, rank, 0);
      seen.add(data.table, data.at(position), elements);
      left -= elements;
    }
  }
  return seen;
}

std::uint64_t Operation::send_begin_of(const Participant& self) const {
  if (!case_.in_place) return 0;
  return test_.in_place(case_.layout, self).value_or(InPlace{}).send_begin;
}

std::optional<Mismatch> Operation::check_guard(int local_rank, std::int64_t starts) {
  std::array<std::byte, kGuardBytes> guard;
  session_.memory(local_rank)
      .copy_to_host(workspace_.recv(local_rank).subspan(guard_begin(starts), kGuardBytes), guard.data());
  const auto intact = [](std::byte byte) { return byte == std::byte{pattern::kGuardByte}; };
  const auto broken = std::find_if_not(guard.begin(), guard.end(), intact);
  if (broken == guard.end()) return std::nullopt;
  Mismatch found;
  found.count = static_cast<std::uint64_t>(guard.end() - broken - std::count_if(broken, guard.end(), intact));
  const std::size_t place = guard_begin(starts) + static_cast<std::size_t>(broken - guard.begin());
  found.first_offset = (place - offset_of(starts - 1)) / element_;
  found.expected = "nothing written behind the message";
  found.got = fmt::format("byte {:#04x}", std::to_integer<int>(*broken));
  return found;
}

/// The offset of the buffers of operation number `start`, counted from 0.
std::size_t Operation::offset_of(std::int64_t start) const {
  if (last_offset_ == 0) return 0;
  return static_cast<std::size_t>(start) % (last_offset_ / stride_ + 1) * stride_;
}

/// The end of the data that the last of `starts` operations receives, or of all data that they touch if some lie behind
/// it.
std::size_t Operation::guard_begin(std::int64_t starts) const {
  if (apart_) return touched_bytes(starts);
  const std::size_t used = used_bytes(starts);
  const bool last_is_outermost = offset_of(starts - 1) + stride_ == used;
  if (case_.in_place || !last_is_outermost) return used;
  return offset_of(starts - 1) + case_.layout.recv_count * element_;
}

/// The number of bytes, from the beginning of the pool, that `starts` operations touch.
std::size_t Operation::used_bytes(std::int64_t starts) const {
  if (stride_ == 0) return 0;
  return std::min(static_cast<std::size_t>(starts - 1) * stride_, last_offset_) + stride_;
}

std::optional<std::int64_t> Operation::places() const {
  if (!apart_) return std::nullopt;
  if (stride_ == 0) return std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int64_t>(last_offset_ / stride_ + 1);
}

/// The number of bytes, from the beginning of the pool, where messages may lie. Side by side, they lie in order. With
/// distances between them, the library may choose their places.
std::size_t Operation::touched_bytes(std::int64_t starts) const {
  return stride_ == message_bytes() ? used_bytes(starts) : last_offset_ + stride_;
}

/// Gives the messages contents that none had before them, so that one of an earlier window is found too.
void Operation::lay_out_messages(std::int64_t starts) {
  messages_before_ = messages_laid_out_;
  windows_before_ = windows_laid_out_;
  messages_laid_out_ += starts;
  windows_laid_out_ += (starts + aggregated_ - 1) / aggregated_;
  workspace_.renew();
  for (int local = 0; local < workspace_.ranks().local; ++local) {
    const LocalRank& rank = ranks_[static_cast<std::size_t>(local)];
    const SourceData own = workspace_.sent(local);
    session_.memory(local).fill(workspace_.send(local).first(used_bytes(starts)), own.table, own.at(0));
    const bool receives = !test_.expected(case_.layout, rank.self).empty();
    rank.backend->place_apart({.bytes = message_bytes(),
                               .distance = stride_,
                               .number = static_cast<std::uint64_t>(*places()),
                               .received = receives ? static_cast<std::uint64_t>(starts) : 0});
  }
}

WrongData Operation::check_messages(int local_rank, std::int64_t starts) {
  WrongData found;
  const LocalRank& rank = ranks_[static_cast<std::size_t>(local_rank)];
  if (test_.expected(case_.layout, rank.self).empty()) return found;
  const std::vector<Arrivals> in_order(1, {.messages = static_cast<std::uint64_t>(starts)});
  for (const Arrivals& run : rank.backend->arrivals().value_or(in_order)) {
    checked_ += run.messages;
    found.add(check_run(local_rank, run));
  }
  return found;
}

/// Looks at all at once if they lie side by side, and at each one if something is wrong.
WrongData Operation::check_run(int local_rank, const Arrivals& run) {
  WrongData found;
  std::optional<Mismatch> at_once;
  if (run.messages > 1 && stride_ == message_bytes()) {
    at_once = look_at(local_rank, run);
    if (!at_once) return found;
  }
  for (std::uint64_t i = 0; i < run.messages; ++i) {
    const auto wrong = look_at(local_rank, {.message = run.message + i, .place = run.place + i, .messages = 1});
    if (!wrong) continue;
    if (found.messages++ == 0) found.message = name_of(run.message + i);
    found.add(wrong);
  }
  if (at_once && found.messages == 0) {  // wrong at first sight only
    found.messages = 1;
    found.message = name_of(run.message + at_once->first_offset * element_ / stride_);
    at_once->first_offset %= case_.layout.count;
    found.add(at_once);
  }
  return found;
}

/// Compares consecutive messages with what was sent.
std::optional<Mismatch> Operation::look_at(int local_rank, const Arrivals& run) {
  const LocalRank& rank = ranks_[static_cast<std::size_t>(local_rank)];
  const ExpectedBlock block = test_.expected(case_.layout, rank.self).front();
  const auto [data, position] = expected_in(block, rank, run.message * stride_);
  const std::size_t bytes = (run.messages - 1) * stride_ + message_bytes();
  return session_.memory(local_rank)
      .check(workspace_.recv(local_rank).subspan(run.place * stride_, bytes), data.table, data.at(position));
}

/// `message`: from 0, since the last `prepare`.
std::string Operation::name_of(std::uint64_t message) const {
  const auto number = static_cast<std::int64_t>(message);
  if (!is_windowed()) return fmt::format("message {}", messages_before_ + number);
  return fmt::format("message {} of window {}", number % aggregated_, windows_before_ + number / aggregated_);
}

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
  for (const LocalRank& rank : ranks_) rank.backend->wait_for_remote_writes();
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
