#include "common/backends/cuda/copies.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "common/backends/cuda/memory.h"
#include "common/core/clock.h"
#include "common/core/error.h"
#include "fake_cuda.h"
#include "scoped_variable.h"
#include "scripted_clock.h"

using namespace fabricbench;
using namespace fabricbench::cuda;

namespace cuda_copies_test {

constexpr std::size_t kBytes = std::size_t{1} << 20;
constexpr double kSpeed = 500e6;
constexpr Seconds kOne = kBytes / kSpeed;
constexpr Seconds kExact = 1e-6;  // CUDA gives milliseconds in a float

/// Two devices and a block on each of them, and one of the host.
class CudaCopies : public testing::Test {
 protected:
  CudaCopies() : host_(kBytes), pinned_(pin(host_)) { fake_cuda_script_time(now); }
  ~CudaCopies() override {
    fake_cuda_script_time(nullptr);
    unsetenv("FAKE_CUDA_COPY_MB_PER_S");
    unsetenv("FAKE_CUDA_COPY_FAULT");
    unsetenv("FAKE_CUDA_NO_PEERS");
    for (std::size_t device = 0; device < 2; ++device) memories_[device].release(blocks_[device]);
  }

  [[nodiscard]] CopyDirection into_device(int device) { return {block(device), device, host_.data(), kHostMemory}; }
  [[nodiscard]] CopyDirection from_device(int device) { return {host_.data(), kHostMemory, block(device), device}; }
  [[nodiscard]] CopyDirection to_peer() { return {block(1), 1, block(0), 0}; }
  [[nodiscard]] std::byte* block(int device) { return blocks_[static_cast<std::size_t>(device)]; }

  void set(int device, std::byte value) {
    memories_[static_cast<std::size_t>(device)].set({block(device), kBytes}, static_cast<int>(value));
  }

  /// The last byte of a device's block.
  [[nodiscard]] std::byte last_of(int device) {
    std::byte byte{};
    memories_[static_cast<std::size_t>(device)].copy_to_host({block(device) + kBytes - 1, 1}, &byte);
    return byte;
  }

  std::vector<std::byte> host_;
  test::ScriptedClock clock_;

 private:
  // What a test case of this file needs is there before the first device is asked for.
  test::ScopedVariable devices_{"FAKE_CUDA_DEVICES", "2"};
  PinnedRange pinned_;
  Stream streams_[2] = {Stream::create(0), Stream::create(1)};
  CudaMemory memories_[2] = {CudaMemory(streams_[0].view()), CudaMemory(streams_[1].view())};
  std::byte* blocks_[2] = {memories_[0].allocate(kBytes), memories_[1].allocate(kBytes)};
};

TEST_F(CudaCopies, CarryTheData) {
  host_.assign(kBytes, std::byte{7});
  const std::vector directions = {into_device(1)};
  (void)TimedCopies(1, 10).time_copies({.directions = directions, .bytes = kBytes});
  EXPECT_EQ(last_of(1), std::byte{7});
  set(1, std::byte{8});
  const std::vector back = {from_device(1)};
  (void)TimedCopies(1, 10).time_copies({.directions = back, .bytes = kBytes});
  EXPECT_EQ(host_.back(), std::byte{8});
}

TEST_F(CudaCopies, TakeAsLongAsTheyTake) {
  setenv("FAKE_CUDA_COPY_MB_PER_S", "500", 1);
  const std::vector directions = {into_device(0)};
  const auto times = TimedCopies(0, 10).time_copies({.directions = directions, .bytes = kBytes, .times = 3});
  ASSERT_EQ(times.size(), 1U);
  ASSERT_EQ(times.front().size(), 3U);
  for (const Seconds time : times.front()) EXPECT_NEAR(time, kOne, kExact * kOne);
}

TEST_F(CudaCopies, GoBothWaysAtOnce) {
  setenv("FAKE_CUDA_COPY_MB_PER_S", "0:h2d:500,0:d2h:100", 1);
  std::vector<std::byte> other(kBytes);
  const PinnedRange pinned = pin(other);
  const std::vector<CopyDirection> directions = {into_device(0), {other.data(), kHostMemory, block(0), 0}};
  const auto times = TimedCopies(0, 10).time_copies({.directions = directions, .bytes = kBytes, .times = 2});
  ASSERT_EQ(times.size(), 2U);
  for (const Seconds time : times[0]) EXPECT_NEAR(time, kOne, kExact * kOne);
  for (const Seconds time : times[1]) EXPECT_NEAR(time, 5 * kOne, 5 * kExact * kOne);
}

TEST_F(CudaCopies, GoFromDeviceToDevice) {
  set(0, std::byte{3});
  set(1, std::byte{4});
  EXPECT_TRUE(connect_peers(0, 1));
  EXPECT_TRUE(connect_peers(0, 1));  // also where they are connected already
  const std::vector directions = {to_peer()};
  (void)TimedCopies(0, 10).time_copies({.directions = directions, .bytes = kBytes});
  EXPECT_EQ(last_of(1), std::byte{3});
}

TEST_F(CudaCopies, GoOverTheHostWherePeersCannotReachEachOther) {
  setenv("FAKE_CUDA_NO_PEERS", "1", 1);
  EXPECT_FALSE(connect_peers(0, 1));
  set(0, std::byte{5});
  const std::vector directions = {to_peer()};
  (void)TimedCopies(0, 10).time_copies({.directions = directions, .bytes = kBytes, .gated = false});
  EXPECT_EQ(last_of(1), std::byte{5});
}

TEST_F(CudaCopies, AreWatchedOnce) {
  for (const char* speed : {"0", "50"}) {
    setenv("FAKE_CUDA_COPY_MB_PER_S", speed, 1);
    int calls = 0;
    const std::vector directions = {into_device(0)};
    (void)TimedCopies(0, 10).time_copies(
        {.directions = directions, .bytes = kBytes, .times = 2, .under_way = [&] { ++calls; }});
    EXPECT_EQ(calls, 1) << speed;
  }
}

TEST_F(CudaCopies, EndAtTheLimit) {
  setenv("FAKE_CUDA_COPY_FAULT", "hang:0", 1);
  const std::vector directions = {into_device(0)};
  clock_.when_reading([this](int) {
    if (fake_cuda_hanging_copies() > 0) clock_.advance(1);
  });
  try {
    (void)TimedCopies(0, 5).time_copies({.directions = directions, .bytes = kBytes});
    FAIL() << "a copy that hangs was not noticed";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kTimeout);
    EXPECT_NE(std::string(error.what()).find("has not finished its work after 5 s"), std::string::npos) << error.what();
  }
  clock_.when_reading([](int) {});
  fake_cuda_end_hanging_copies();  // before the blocks go
}

TEST_F(CudaCopies, KnowWhatTheMemoryCarries) {
  EXPECT_DOUBLE_EQ(memory_bytes_per_s(0).value(), 1024e9);
  EXPECT_TRUE(reaches_host_by_pci(0));
}

TEST_F(CudaCopies, LockNoMoreThanTheSystemLetsThem) {
  try {
    (void)pin({host_.data() + 1, std::size_t{1} << 50});
    FAIL() << "so much cannot be locked";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kMissing);
  }
}

}  // namespace cuda_copies_test
