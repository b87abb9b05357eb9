// What the kernels of common/backends/nccl_device do, thread by thread on the host's memory: the code is the kernels'
// own, but for how they reach memory and for the barriers.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "common/backends/nccl_device/device_work.h"

namespace fabricbench::nccl_device {
namespace nccl_device_work_test {

constexpr unsigned kAtOnce = 4;
constexpr std::uint64_t kThreads = 3;
constexpr std::uint8_t kUntouched = 0x5a;

/// The memory of ranks whose buffers begin at the same byte of their windows.
struct Machine {
  std::vector<std::vector<std::uint8_t>> send;
  std::vector<std::vector<std::uint8_t>> recv;
  std::uint64_t send_offset;
  std::uint64_t recv_offset;

  Machine(int ranks, std::uint64_t bytes, std::uint64_t from, std::uint64_t into)
      : send(static_cast<std::size_t>(ranks), std::vector<std::uint8_t>(from + bytes + 64, kUntouched)),
        recv(static_cast<std::size_t>(ranks), std::vector<std::uint8_t>(into + bytes + 64, kUntouched)),
        send_offset(from),
        recv_offset(into) {}

  [[nodiscard]] int ranks() const { return static_cast<int>(send.size()); }
  [[nodiscard]] std::uint8_t* sent(int rank) { return send[static_cast<std::size_t>(rank)].data() + send_offset; }
  [[nodiscard]] std::uint8_t* received(int rank) { return recv[static_cast<std::size_t>(rank)].data() + recv_offset; }
};

template <typename P>
struct HostPeers {
  using Piece = P;
  Machine& machine;
  int own;
  std::uint64_t begin;

  [[nodiscard]] int rank() const { return own; }
  [[nodiscard]] int ranks() const { return machine.ranks(); }
  [[nodiscard]] Piece load(int peer, std::uint64_t index) const {
    Piece piece;
    std::memcpy(&piece, machine.sent(peer) + begin + index * sizeof piece, sizeof piece);
    return piece;
  }
  void store(int peer, std::uint64_t index, const Piece& piece) const {
    std::memcpy(machine.received(peer) + begin + index * sizeof piece, &piece, sizeof piece);
  }
};

struct HostBuffers {
  Machine& machine;
  int rank;
  template <typename Piece>
  [[nodiscard]] HostPeers<Piece> peers(std::uint64_t begin) const {
    return {machine, rank, begin};
  }
};

template <typename P>
struct HostLink {
  using Piece = P;
  const std::uint8_t* from;
  std::uint8_t* into;

  [[nodiscard]] Piece load(std::uint64_t index) const {
    Piece piece;
    std::memcpy(&piece, from + index * sizeof piece, sizeof piece);
    return piece;
  }
  void store(std::uint64_t index, const Piece& piece) const {
    std::memcpy(into + index * sizeof piece, &piece, sizeof piece);
  }
};

struct HostBlock {
  const std::uint8_t* from;
  std::uint8_t* into;
  template <typename Piece>
  [[nodiscard]] HostLink<Piece> link(std::uint64_t begin) const {
    return {from + begin, into + begin};
  }
};

template <typename Action>
void for_each_thread(int ranks, std::uint64_t blocks, Action action) {
  for (int rank = 0; rank < ranks; ++rank) {
    for (std::uint64_t block = 0; block < blocks; ++block) {
      for (std::uint64_t thread = 0; thread < kThreads; ++thread)
        action(rank, Position{thread, kThreads, block, blocks});
    }
  }
}

template <typename T, typename Unit>
void all_reduce(Machine& machine, std::uint64_t count, std::uint64_t blocks) {
  const Split split = split_of(machine.send_offset, machine.recv_offset, count, sizeof(T), sizeof(Unit));
  for_each_thread(machine.ranks(), blocks, [&](int rank, const Position& at) {
    reduce_message<T, Unit, kAtOnce>(HostBuffers{machine, rank}, split, share_among_ranks(at, rank, machine.ranks()));
  });
}

template <typename T, typename Unit>
void all_to_all(Machine& machine, std::uint64_t count, std::uint64_t blocks) {
  const std::uint64_t bytes = count * sizeof(T);
  for_each_thread(machine.ranks(), blocks, [&](int rank, const Position& at) {
    for (int turn = 0; turn < machine.ranks(); ++turn) {
      const int peer = peer_at(turn, rank, machine.ranks());
      const std::uint64_t from = static_cast<std::uint64_t>(peer) * bytes;
      const std::uint64_t into = static_cast<std::uint64_t>(rank) * bytes;
      const Split split =
          split_of(machine.send_offset + from, machine.recv_offset + into, count, sizeof(T), sizeof(Unit));
      copy_message<T, Unit, kAtOnce>(HostBlock{machine.sent(rank) + from, machine.received(peer) + into}, split,
                                     share_of_rank(at));
    }
  });
}

template <typename T>
T element(std::uint64_t rank, std::uint64_t index) {
  return static_cast<T>((rank * 37 + index * 11) % 23 + rank);
}

template <typename T>
void put(std::uint8_t* buffer, std::uint64_t index, T value) {
  std::memcpy(buffer + index * sizeof value, &value, sizeof value);
}

template <typename T>
T got(const std::uint8_t* buffer, std::uint64_t index) {
  T value;
  std::memcpy(&value, buffer + index * sizeof value, sizeof value);
  return value;
}

/// Nothing before and behind the message has been touched.
void expect_fenced(Machine& machine, std::uint64_t bytes) {
  for (int rank = 0; rank < machine.ranks(); ++rank) {
    const auto& block = machine.recv[static_cast<std::size_t>(rank)];
    for (std::uint64_t i = 0; i < block.size(); ++i) {
      if (i >= machine.recv_offset && i < machine.recv_offset + bytes) continue;
      ASSERT_EQ(block[i], kUntouched) << "byte " << i << " of rank " << rank;
    }
  }
}

template <typename T, typename Unit>
void check_all_reduce(int ranks, std::uint64_t count, std::uint64_t blocks, std::uint64_t from, std::uint64_t into) {
  Machine machine(ranks, count * sizeof(T), from * sizeof(T), into * sizeof(T));
  for (int rank = 0; rank < ranks; ++rank) {
    for (std::uint64_t i = 0; i < count; ++i) put(machine.sent(rank), i, element<T>(static_cast<unsigned>(rank), i));
  }
  all_reduce<T, Unit>(machine, count, blocks);
  for (std::uint64_t i = 0; i < count; ++i) {
    T sum{};
    for (int rank = 0; rank < ranks; ++rank) sum = static_cast<T>(sum + element<T>(static_cast<unsigned>(rank), i));
    for (int rank = 0; rank < ranks; ++rank) {
      ASSERT_EQ(got<T>(machine.received(rank), i), sum)
          << count << " elements, element " << i << ", rank " << rank << " of " << ranks << ", " << blocks << " blocks";
    }
  }
  expect_fenced(machine, count * sizeof(T));
}

template <typename T, typename Unit>
void check_all_to_all(int ranks, std::uint64_t count, std::uint64_t blocks, std::uint64_t from, std::uint64_t into) {
  const std::uint64_t all = count * static_cast<std::uint64_t>(ranks);
  Machine machine(ranks, all * sizeof(T), from * sizeof(T), into * sizeof(T));
  for (int rank = 0; rank < ranks; ++rank) {
    for (std::uint64_t i = 0; i < all; ++i) put(machine.sent(rank), i, element<T>(static_cast<unsigned>(rank), i));
  }
  all_to_all<T, Unit>(machine, count, blocks);
  for (std::uint64_t i = 0; i < all; ++i) {
    for (int rank = 0; rank < ranks; ++rank) {
      const auto own = static_cast<std::uint64_t>(rank);
      ASSERT_EQ(got<T>(machine.received(rank), i), element<T>(i / count, own * count + i % count))
          << count << " elements, element " << i << ", rank " << rank << " of " << ranks << ", " << blocks << " blocks";
    }
  }
  expect_fenced(machine, all * sizeof(T));
}

/// Calls `check(ranks, count, blocks, from, into)` for what is small enough to try it all.
template <typename Check>
void for_all_shapes(Check check) {
  for (const int ranks : {1, 2, 3, 5}) {
    for (const std::uint64_t blocks : {1, 2, 7}) {
      for (const std::uint64_t count : {0, 1, 2, 3, 5, 16, 17, 63, 64, 200, 1000}) {
        for (const auto& [from, into] : {std::pair{0, 0}, {1, 1}, {3, 3}, {0, 1}, {5, 2}}) {
          check(ranks, count, blocks, static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(into));
        }
      }
    }
  }
}

TEST(NcclDeviceWork, ReducesEveryElementOnce) {
  for_all_shapes(check_all_reduce<std::uint8_t, std::uint8_t>);
  for_all_shapes(check_all_reduce<float, float>);
  for_all_shapes(check_all_reduce<std::uint8_t, Pack<std::uint8_t>>);
  for_all_shapes(check_all_reduce<std::uint16_t, Pack<std::uint16_t>>);
  for_all_shapes(check_all_reduce<float, Pack<float>>);
  for_all_shapes(check_all_reduce<double, Pack<double>>);
}

TEST(NcclDeviceWork, CarriesEveryBlock) {
  for_all_shapes(check_all_to_all<std::uint8_t, std::uint8_t>);
  for_all_shapes(check_all_to_all<std::uint8_t, Pack<std::uint8_t>>);
  for_all_shapes(check_all_to_all<std::uint32_t, Pack<std::uint32_t>>);
  for_all_shapes(check_all_to_all<std::uint64_t, Pack<std::uint64_t>>);
}

TEST(NcclDeviceWork, SplitsAtTheAlignedAddresses) {
  const Split aligned = split_of(32, 64, 11, 4, 16);
  EXPECT_EQ(aligned.head, 0U);
  EXPECT_EQ(aligned.units, 2U);
  EXPECT_EQ(aligned.tail, 3U);
  const Split shifted = split_of(20, 36, 11, 4, 16);
  EXPECT_EQ(shifted.head, 3U);
  EXPECT_EQ(shifted.units, 2U);
  EXPECT_EQ(shifted.tail, 0U);
  EXPECT_EQ(split_of(20, 24, 11, 4, 16).head, 11U) << "no address is aligned in both";
  EXPECT_EQ(split_of(4, 4, 2, 4, 16).head, 2U) << "all of it before the first aligned address";
  EXPECT_EQ(split_of(4, 4, 11, 4, 4).units, 11U);
}

TEST(NcclDeviceWork, CountsBeyondThirtyTwoBits) {
  constexpr std::uint64_t kMany = (std::uint64_t{1} << 33) + 5;
  const Split split = split_of(2, 2, kMany, 2, 16);
  EXPECT_EQ(split.head + split.units * 8 + split.tail, kMany);
  const Share share = share_among_ranks({511, 512, 127, 128}, 71, 72);
  EXPECT_EQ(share.step, std::uint64_t{512} * 128 * 72);
  EXPECT_EQ(share.first, share.step - 1);
  std::uint64_t visited = 0;
  std::uint64_t last = 0;
  for_each_group<kAtOnce>(kMany, share, [&]<unsigned N>(std::uint64_t first) {
    visited += N;
    last = first + (N - 1) * share.step;
  });
  EXPECT_EQ(visited, (kMany - share.first - 1) / share.step + 1);
  EXPECT_EQ(last, share.first + (visited - 1) * share.step);
}

TEST(NcclDeviceWork, BeginsWithTheRankItself) {
  EXPECT_EQ(peer_at(0, 2, 4), 2);
  EXPECT_EQ(peer_at(1, 2, 4), 3);
  EXPECT_EQ(peer_at(2, 2, 4), 0);
  EXPECT_EQ(peer_at(3, 2, 4), 1);
}

}  // namespace nccl_device_work_test
}  // namespace fabricbench::nccl_device
