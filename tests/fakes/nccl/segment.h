// The memory through which the ranks of a fake communicator meet, between processes of one host and between several
// ranks of one process. Not MPI, which the programs' main threads use without its support for threads.
//
// It is an anonymous file of the process that made the identifier, which the others open through /proc: there is no
// name that a killed process could leave behind.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace fake_nccl {

inline constexpr int kMostRanks = 8;
inline constexpr std::size_t kSlotBytes = std::size_t{256} << 10;
inline constexpr std::size_t kPipeBytes = std::size_t{128} << 10;

/// Bytes on their way from one rank to another.
struct Pipe {
  std::atomic<std::uint64_t> written;
  std::atomic<std::uint64_t> read;
  std::array<std::byte, kPipeBytes> data;
};

/// What tells one GPU from another.
struct Gpu {
  std::uint64_t host;
  unsigned bus;
};

/// What the mapped memory holds; begins as zeros.
struct Layout {
  std::array<Gpu, kMostRanks> gpus;  // of each rank that has joined
  std::atomic<int> joined;
  std::atomic<std::uint64_t> device_arrivals;  // at barriers within operations
  std::atomic<std::uint64_t> host_arrivals;    // at barriers of calls that wait for other processes
  std::array<std::array<std::byte, kSlotBytes>, kMostRanks> slots;
  std::array<std::array<Pipe, kMostRanks>, kMostRanks> pipes;  // [from][to]
  std::array<std::array<Pipe, kMostRanks>, kMostRanks> puts;   // the same of one-sided operations
};

/// Where others find the memory; part of an ncclUniqueId.
struct Address {
  std::uint64_t marker;
  int process;
  int file;
};

/// A new segment's address. Its file stays open until `close_file`, which does nothing in other processes.
[[nodiscard]] Address create_segment();
void close_file(const Address& address);

/// Maps a segment; nullptr where there is none.
[[nodiscard]] std::shared_ptr<Layout> map_segment(const Address& address);

/// Lets other threads run until `ready`, first for a short time and then with sleeps. False once `stopped` is set.
[[nodiscard]] bool wait_until(const std::function<bool()>& ready, const std::atomic<bool>& stopped);

/// One rank's side of a barrier that counts arrivals, in two phases: a thread with several ranks first arrives with
/// all of them.
class Barrier {
 public:
  void arrive(std::atomic<std::uint64_t>& arrivals, int ranks);
  [[nodiscard]] bool wait(const std::atomic<std::uint64_t>& arrivals, const std::atomic<bool>& stopped) const;

 private:
  std::uint64_t target_ = 0;
};

}  // namespace fake_nccl
