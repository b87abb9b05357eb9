// Operations of which each message has a place of its own: the part of Operation that lays them out and checks them
// all.

#include <limits>

#include <fmt/format.h>

#include "common/measure/operation.h"

namespace fabricbench {

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

}  // namespace fabricbench
