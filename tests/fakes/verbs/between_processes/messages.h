// Queue pairs of this process, and what their messages do to other processes' memory.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "shared.h"

namespace fabricbench::test {

inline constexpr std::size_t kMostInline = 256;
inline constexpr int kMostRequests = 1024;

struct SentMessage {
  ibv_send_wr request;
  ibv_sge part;
  std::uint32_t destination;  // number of a queue pair
  bool is_inline;
  std::array<std::byte, kMostInline> inlined;
};

struct OwnQueuePair {
  ibv_qp handle{};
  bool signals_all = false;
  std::uint32_t peer = 0;
  Ring<SentMessage, kMostRequests> waiting{};  // for the other side to be ready
};

/// Carries out what can be, in order.
void advance(const Shared& shared, OwnQueuePair& own);

/// What waits, and what has not come, completes with an error.
void flush(const Shared& shared, OwnQueuePair& own);

}  // namespace fabricbench::test
