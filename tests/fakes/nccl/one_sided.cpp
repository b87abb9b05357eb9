// Puts and waits for signals. A put reaches the peer's memory without the peer's call in NCCL; here it does so while
// the peer puts or waits itself, which pairs of ranks do in the end.
#include "pipe.h"
#include "rank.h"

namespace fake_nccl {
namespace {

/// Takes in what a peer has put, as far as it has come. False where nothing moved.
bool take_in(Rank& rank, std::size_t peer) {
  Pipe& pipe = rank.shared->puts[peer][static_cast<std::size_t>(rank.rank)];
  Incoming& incoming = rank.incoming[peer];
  if (!incoming.begun) {
    if (pipe.written - pipe.read < sizeof incoming.header) return false;
    pull(pipe, incoming.header.data(), sizeof incoming.header);
    incoming.begun = true;
    incoming.left = incoming.header[2];
    if (incoming.left > 0) incoming.last = rank.windows.at(incoming.header[0]).block + incoming.header[1];
  }
  const std::uint64_t moved = pull(pipe, incoming.last + (incoming.header[2] - incoming.left), incoming.left);
  incoming.left -= moved;
  if (incoming.left > 0) return moved > 0;
  incoming.begun = false;
  ++incoming.signals;
  return true;
}

void take_in_all(Rank& rank) {
  for (std::size_t peer = 0; peer < static_cast<std::size_t>(rank.ranks); ++peer) {
    while (!rank.aborted && take_in(rank, peer)) continue;
  }
}

bool put(Rank& rank, const Operation& operation) {
  Pipe& pipe = rank.shared->puts[static_cast<std::size_t>(rank.rank)][static_cast<std::size_t>(operation.root)];
  const std::array<std::uint64_t, 3> header{operation.window, operation.offset, operation.count};
  bool begun = false;
  std::uint64_t moved = 0;
  return wait_until(
      [&] {
        take_in_all(rank);
        if (!begun && kPipeBytes - (pipe.written - pipe.read) < sizeof header) return false;
        if (!begun) push(pipe, header.data(), sizeof header);
        begun = true;
        moved += push(pipe, operation.send + moved, operation.count - moved);
        return moved == operation.count;
      },
      rank.aborted);
}

bool wait_for_signals(Rank& rank, const Operation& operation) {
  Incoming& incoming = rank.incoming[static_cast<std::size_t>(operation.root)];
  const auto all_here = [&] {
    take_in_all(rank);
    return incoming.signals >= operation.count;
  };
  if (!wait_until(all_here, rank.aborted)) return false;
  incoming.signals -= operation.count;
  return true;
}

}  // namespace

bool run_one_sided(Rank& rank, const Operation& operation) {
  return operation.kind == Kind::kPut ? put(rank, operation) : wait_for_signals(rank, operation);
}

}  // namespace fake_nccl
