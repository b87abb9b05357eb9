// The memory that all processes of a job have in common: what an adapter and its network know of queue pairs and
// completion queues. It is a file, FAKE_VERBS_FILE, which whoever starts the job names and removes.
//
// As with an adapter, no process has to do anything for what others do to its memory: who sends also receives on the
// other side. So a process that is stopped does not stop the traffic to it.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace fabricbench::test {

template <typename Item, std::size_t room>
struct Ring {
  std::uint64_t written;
  std::uint64_t taken;
  std::array<Item, room> items;

  [[nodiscard]] bool empty() const { return written == taken; }
  [[nodiscard]] bool full() const { return written - taken == room; }
  [[nodiscard]] Item& front() { return items[taken % room]; }
  void push(const Item& item) { items[written++ % room] = item; }
  void pop() { ++taken; }
};

struct SharedReceive {
  std::uint64_t id;
  int parts;
  std::array<ibv_sge, 2> part;
};

inline constexpr int kMostReceives = 1024;
inline constexpr int kMostCompletions = 4096;

/// A completion queue. Of everything here, `process` 0 stands for: never used, or given back.
struct SharedCompletions {
  int process;
  int bell;  // file of its process that a byte is written to where `armed`; 0: none
  bool armed;
  Ring<ibv_wc, kMostCompletions> completions;
};

/// A queue pair, or a shared receive queue, which has the receives only.
struct SharedQueuePair {
  int process;
  ibv_qp_type type;
  ibv_qp_state state;
  std::uint32_t completions;    // of receives; number of a SharedCompletions
  std::uint32_t receives_from;  // number of the one whose receives it takes: its own, or a shared one
  Ring<SharedReceive, kMostReceives> receives;
};

inline constexpr std::size_t kMostQueues = 64;

struct SharedState {
  std::atomic<int> locked_by;  // a thread; 0: none
  // Numbers begin with 1, and are not used again.
  std::uint32_t completion_queues_made;
  std::uint32_t queue_pairs_made;
  std::array<SharedCompletions, kMostQueues> completion_queues;
  std::array<SharedQueuePair, kMostQueues> queue_pairs;
};

/// Holds the state for as long as it lives. What a killed process held is free again.
class Shared {
 public:
  Shared();
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared();

  SharedState* operator->() const;

  SharedCompletions& completions(std::uint32_t number) const;
  /// nullptr: there never was one.
  SharedQueuePair* queue_pair(std::uint32_t number) const;
  void complete(std::uint32_t completions, const ibv_wc& completion) const;
};

}  // namespace fabricbench::test
