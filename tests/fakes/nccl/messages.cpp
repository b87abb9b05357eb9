// Messages between two ranks: each goes through the pair's pipe with its size before it, and all of a group are under
// way at once, as in NCCL. Messages of one pair and direction match in their order.
#include <algorithm>
#include <array>
#include <deque>

#include "pipe.h"
#include "rank.h"

namespace fake_nccl {
namespace {

using Header = std::uint64_t;

/// A send or a receive as bytes that are moved so far.
struct Transfer {
  std::byte* buffer;
  std::uint64_t bytes;
  std::uint64_t moved = 0;
  bool header_done = false;
};

/// One direction between this rank and a peer.
class Lane {
 public:
  void add(const Operation& operation) {
    std::byte* buffer = operation.kind == Kind::kSend ? const_cast<std::byte*>(operation.send) : operation.recv;
    transfers_.push_back({buffer, operation.count * element_bytes(operation.type)});
  }
  [[nodiscard]] bool empty() const { return transfers_.empty(); }

  /// Whether anything moved.
  bool send(Pipe& pipe) {
    if (transfers_.empty()) return false;
    Transfer& transfer = transfers_.front();
    if (!transfer.header_done) {
      if (kPipeBytes - (pipe.written - pipe.read) < sizeof(Header)) return false;
      const Header header = transfer.bytes;
      push(pipe, &header, sizeof header);
      transfer.header_done = true;
    }
    return moved(push(pipe, transfer.buffer + transfer.moved, transfer.bytes - transfer.moved));
  }

  bool receive(Pipe& pipe, bool& mismatched) {
    if (transfers_.empty()) return false;
    Transfer& transfer = transfers_.front();
    if (!transfer.header_done) {
      if (pipe.written - pipe.read < sizeof(Header)) return false;
      Header header = 0;
      pull(pipe, &header, sizeof header);
      transfer.header_done = true;
      mismatched = header != transfer.bytes;
      if (mismatched) return false;
    }
    return moved(pull(pipe, transfer.buffer + transfer.moved, transfer.bytes - transfer.moved));
  }

 private:
  bool moved(std::uint64_t bytes) {
    Transfer& transfer = transfers_.front();
    transfer.moved += bytes;
    const bool complete = transfer.moved == transfer.bytes;
    if (complete) transfers_.pop_front();
    return bytes > 0 || complete;
  }

  std::deque<Transfer> transfers_;
};

struct Lanes {
  std::array<Lane, kMostRanks> sends;
  std::array<Lane, kMostRanks> recvs;

  [[nodiscard]] bool empty() const {
    const auto done = [](const Lane& lane) { return lane.empty(); };
    return std::all_of(sends.begin(), sends.end(), done) && std::all_of(recvs.begin(), recvs.end(), done);
  }
};

}  // namespace

bool run_messages(Rank& rank, const std::vector<Operation>& messages) {
  Lanes lanes;
  for (const Operation& message : messages) {
    if (message.count == 0) continue;
    auto& direction = message.kind == Kind::kSend ? lanes.sends : lanes.recvs;
    direction[static_cast<std::size_t>(message.root)].add(message);
  }
  const auto own = static_cast<std::size_t>(rank.rank);
  bool mismatched = false;
  const auto turn = [&] {
    bool moved = false;
    do {
      moved = false;
      for (std::size_t peer = 0; peer < static_cast<std::size_t>(rank.ranks); ++peer) {
        moved |= lanes.sends[peer].send(rank.shared->pipes[own][peer]);
        moved |= lanes.recvs[peer].receive(rank.shared->pipes[peer][own], mismatched);
      }
    } while (moved && !mismatched && !rank.aborted);
    return lanes.empty() || mismatched;
  };
  if (!wait_until(turn, rank.aborted)) return false;
  if (!mismatched) return true;
  set_last_error("a message has not the size that its receiver expects");
  rank.async_result = ncclInvalidUsage;
  return wait_until([] { return false; }, rank.aborted);
}

}  // namespace fake_nccl
