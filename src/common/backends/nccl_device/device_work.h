// The work of the kernels on NCCL's device interface, without the memory accesses: the distribution of pieces over
// threads, and their order. constexpr functions, shared by the kernels and the tests.
#pragma once

#include <cstdint>

namespace fabricbench::nccl_device {

/// A thread's pieces: from `first` on, at intervals of `step`.
struct Share {
  std::uint64_t first;
  std::uint64_t step;
};

/// A message divided into units that are aligned in both buffers, and the elements before and after them.
struct Split {
  std::uint64_t head;   ///< elements
  std::uint64_t units;  ///< of `unit` bytes
  std::uint64_t tail;   ///< elements
};

/// `send` and `recv`: offset of the message from an aligned address in bytes; multiples of `element`. All of it is head
/// if the two are aligned differently, so that no unit is aligned in both.
[[nodiscard]] constexpr Split split_of(std::uint64_t send, std::uint64_t recv, std::uint64_t count,
                                       std::uint32_t element, std::uint32_t unit) {
  if (send % unit != recv % unit) return {count, 0, 0};
  const std::uint64_t lead = (unit - send % unit) % unit / element;
  if (lead >= count) return {count, 0, 0};
  const std::uint64_t per_unit = unit / element;
  return {lead, (count - lead) / per_unit, (count - lead) % per_unit};
}

/// Calls `action.template operator()<N>(first)`, each time for N pieces first, first + step, ..., until all pieces of
/// the share among `count` are done. N is kAtOnce, and 1 for the rest.
template <unsigned kAtOnce, typename Action>
constexpr void for_each_group(std::uint64_t count, Share share, const Action& action) {
  std::uint64_t first = share.first;
  for (; first < count && count - first > (kAtOnce - 1) * share.step; first += kAtOnce * share.step) {
    action.template operator()<kAtOnce>(first);
  }
  for (; first < count; first += share.step) action.template operator()<1>(first);
}

/// A thread of a kernel: the blocks of all ranks together form one sequence of threads.
struct Position {
  std::uint64_t thread;
  std::uint64_t threads;  ///< per block
  std::uint64_t block;
  std::uint64_t blocks;
};

/// A thread's share of the work that its rank does alone; neighbouring threads of a block have neighbouring pieces.
[[nodiscard]] constexpr Share share_of_rank(const Position& at) {
  return {at.block * at.threads + at.thread, at.blocks * at.threads};
}

/// The same for work shared by all ranks.
[[nodiscard]] constexpr Share share_among_ranks(const Position& at, int rank, int ranks) {
  const auto all = static_cast<std::uint64_t>(ranks);
  const std::uint64_t block = at.block * all + static_cast<std::uint64_t>(rank);
  return {block * at.threads + at.thread, at.blocks * all * at.threads};
}

/// Peer number `turn` of rank `rank`: every rank begins with itself, which spreads the accesses.
[[nodiscard]] constexpr int peer_at(int turn, int rank, int ranks) {
  return rank + turn < ranks ? rank + turn : rank + turn - ranks;
}

/// The addition of values of T. A specialisation may add in a wider type and round once.
template <typename T>
struct Summed {
  using Sum = T;
  static constexpr void add(Sum& sum, T value) { sum = static_cast<T>(sum + value); }
  static constexpr T rounded(Sum sum) { return sum; }
};

/// The unit that a thread loads and stores at once.
template <typename T>
struct alignas(16) Pack {
  static constexpr unsigned kLanes = 16 / sizeof(T);
  T lanes[kLanes];
};

template <typename T>
struct Summed<Pack<T>> {
  struct Sum {
    typename Summed<T>::Sum lanes[Pack<T>::kLanes];
  };
  static constexpr void add(Sum& sum, const Pack<T>& value) {
    for (unsigned i = 0; i < Pack<T>::kLanes; ++i) Summed<T>::add(sum.lanes[i], value.lanes[i]);
  }
  static constexpr Pack<T> rounded(const Sum& sum) {
    Pack<T> value{};
    for (unsigned i = 0; i < Pack<T>::kLanes; ++i) value.lanes[i] = Summed<T>::rounded(sum.lanes[i]);
    return value;
  }
};

/// Adds N pieces of all ranks and stores the sums in all ranks' buffers. Each piece belongs to one thread, which reads
/// it everywhere before it writes it anywhere; so the two buffers may be the same.
template <unsigned N, typename Peers>
constexpr void reduce_group(const Peers& peers, std::uint64_t first, std::uint64_t step) {
  using Piece = typename Peers::Piece;
  typename Summed<Piece>::Sum sums[N] = {};
  for (int turn = 0; turn < peers.ranks(); ++turn) {
    Piece values[N] = {};
    const int peer = peer_at(turn, peers.rank(), peers.ranks());
    for (unsigned i = 0; i < N; ++i) values[i] = peers.load(peer, first + i * step);
    for (unsigned i = 0; i < N; ++i) Summed<Piece>::add(sums[i], values[i]);
  }
  for (int turn = 0; turn < peers.ranks(); ++turn) {
    const int peer = peer_at(turn, peers.rank(), peers.ranks());
    for (unsigned i = 0; i < N; ++i) peers.store(peer, first + i * step, Summed<Piece>::rounded(sums[i]));
  }
}

/// Copies N pieces from the source of `link` to its destination.
template <unsigned N, typename Link>
constexpr void copy_group(const Link& link, std::uint64_t first, std::uint64_t step) {
  typename Link::Piece values[N] = {};
  for (unsigned i = 0; i < N; ++i) values[i] = link.load(first + i * step);
  for (unsigned i = 0; i < N; ++i) link.store(first + i * step, values[i]);
}

/// An action of for_each_group.
template <typename Peers>
struct Reducing {
  const Peers& peers;
  std::uint64_t step;
  template <unsigned N>
  constexpr void operator()(std::uint64_t first) const {
    reduce_group<N>(peers, first, step);
  }
};

/// Another action of for_each_group.
template <typename Link>
struct Copying {
  const Link& link;
  std::uint64_t step;
  template <unsigned N>
  constexpr void operator()(std::uint64_t first) const {
    copy_group<N>(link, first, step);
  }
};

template <unsigned kAtOnce, typename Peers>
constexpr void reduce_all(const Peers& peers, std::uint64_t count, Share share) {
  for_each_group<kAtOnce>(count, share, Reducing<Peers>{peers, share.step});
}

template <unsigned kAtOnce, typename Link>
constexpr void copy_all(const Link& link, std::uint64_t count, Share share) {
  for_each_group<kAtOnce>(count, share, Copying<Link>{link, share.step});
}

/// Processes a whole message. `buffers.template peers<Piece>(begin)` are the ranks' buffers from byte `begin` of it on.
template <typename T, typename Unit, unsigned kAtOnce, typename Buffers>
constexpr void reduce_message(const Buffers& buffers, const Split& split, Share share) {
  const std::uint64_t units_begin = split.head * sizeof(T);
  reduce_all<kAtOnce>(buffers.template peers<T>(0), split.head, share);
  reduce_all<kAtOnce>(buffers.template peers<Unit>(units_begin), split.units, share);
  reduce_all<1>(buffers.template peers<T>(units_begin + split.units * sizeof(Unit)), split.tail, share);
}

/// The same, where `buffers.template link<Piece>(begin)` gives source and destination.
template <typename T, typename Unit, unsigned kAtOnce, typename Buffers>
constexpr void copy_message(const Buffers& buffers, const Split& split, Share share) {
  const std::uint64_t units_begin = split.head * sizeof(T);
  copy_all<kAtOnce>(buffers.template link<T>(0), split.head, share);
  copy_all<kAtOnce>(buffers.template link<Unit>(units_begin), split.units, share);
  copy_all<1>(buffers.template link<T>(units_begin + split.units * sizeof(Unit)), split.tail, share);
}

}  // namespace fabricbench::nccl_device
