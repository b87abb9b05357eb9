// Where messages lie: the part of Flow that spreads them, and gives receives places of their own.

#include <algorithm>

#include <fmt/format.h>

#include "common/backends/verbs/flow.h"
#include "common/core/error.h"

namespace fabricbench::verbs {

void Flow::receive_apart(const LocalPart& buffer, const MessagePlaces& places, const std::vector<std::uint64_t>& sent) {
  const std::uint64_t lanes = lanes_.size();
  if (places.number < lanes) {
    throw UsageError(fmt::format(
        "--check all: -q {} queue pairs need a place each, and there is memory for {}; lower -q or the message size",
        lanes, places.number));
  }
  const bool has_receives = may_lose() && apart_;  // posted for messages that were lost, or ahead
  buffer_ = buffer;
  apart_ = places;
  receiving_ = true;
  turn_ = 0;
  for (std::size_t i = 0; i < lanes; ++i) {
    Lane& lane = lanes_[i];
    lane.to_receive = (places.received + lanes - 1 - i) / lanes;
    lane.receives_before += lane.numbers_seen.size();
    lane.numbers_seen.clear();
    if (may_lose()) {
      lane.numbers_seen.reserve(lane.to_receive);
      lane.first_number = static_cast<std::uint32_t>(sent.at(i));
    } else {
      lane.receives = 0;
    }
    if (!has_receives) post_receives(i, static_cast<int>(settings_.receive_depth));
  }
}

/// Adds lists until every line of the queue pair's part is used. Lists are posted from their ends, and the first queue
/// pair's first message keeps its place.
void Flow::spread(std::vector<Request>& requests, std::size_t turn) const {
  const Request usual = requests.front();
  const std::size_t distance = (usual.local.bytes + kLine - 1) / kLine * kLine;
  if (!spread_ || distance == 0 || distance > kSpread) return;
  const std::size_t each = requests.size();
  const std::size_t lines = kSpread / distance;
  requests.assign((lines + each - 1) / each * each, usual);
  const auto& [local, remote] = *spread_;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const std::size_t line = (i / each * each + each - 1 - i % each) % lines;
    if (turn == 0 && line == 0) continue;
    const std::size_t offset = turn * kSpread + line * distance;
    requests[i].local.data = local.data + offset;
    requests[i].local.key = local.key;
    requests[i].remote = {remote.address + offset, remote.key};
  }
}

/// Of messages that cannot be lost no more receives are posted than there are messages, so that none is left with the
/// place of a message of another size. Receives for datagrams go through all places again and again, and all have the
/// room of the largest datagram.
void Flow::post_receives(std::size_t queue, int count) {
  if (!apart_) return connection_.post_receives(static_cast<int>(queue), buffer_, count, 0);
  Lane& lane = lanes_[queue];
  const std::uint64_t ring = apart_->number / lanes_.size();
  auto left = static_cast<std::uint64_t>(count);
  if (!may_lose()) left = std::min(left, lane.to_receive - lane.receives);
  while (left > 0) {
    const std::uint64_t run = may_lose() ? std::min(left, ring - lane.receives % ring) : left;
    LocalPart into = buffer_;
    into.data += place_of(queue, lane.receives) * apart_->distance;
    into.bytes = static_cast<std::uint32_t>(may_lose() ? apart_->distance : apart_->bytes);
    connection_.post_receives(static_cast<int>(queue), into, static_cast<int>(run), lanes_.size() * apart_->distance);
    lane.receives += run;
    left -= run;
  }
}

std::uint64_t Flow::place_of(std::size_t queue_pair, std::uint64_t receive) const {
  const std::uint64_t lanes = lanes_.size();
  return (may_lose() ? receive % (apart_->number / lanes) : receive) * lanes + queue_pair;
}

std::optional<std::vector<Arrivals>> Flow::arrivals() const {
  if (!may_lose()) return std::nullopt;
  std::vector<Arrivals> found;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const Lane& lane = lanes_[i];
    for (std::size_t seen = 0; seen < lane.numbers_seen.size(); ++seen) {
      const std::uint32_t number = lane.numbers_seen[seen] - lane.first_number;
      if (number >= lane.to_receive) continue;  // from before, and late
      found.push_back(
          {.message = number * lanes_.size() + i, .place = place_of(i, lane.receives_before + seen), .messages = 1});
    }
  }
  return found;
}

std::vector<std::uint64_t> Flow::sent() const {
  std::vector<std::uint64_t> counts;
  for (const Lane& lane : lanes_) counts.push_back(lane.started());
  return counts;
}

}  // namespace fabricbench::verbs
