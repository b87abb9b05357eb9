#include "common/backends/cuda/clock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "common/backends/cuda/stream.h"
#include "common/core/clock.h"
#include "common/core/error.h"
#include "fake_cuda.h"
#include "scripted_clock.h"

using namespace fabricbench;
using namespace fabricbench::cuda;

namespace cuda_clock_test {

/// The host's clock is scripted, and with it that of the devices.
class CudaClockTest : public testing::Test {
 protected:
  CudaClockTest() { fake_cuda_script_time(now); }
  ~CudaClockTest() override { fake_cuda_script_time(nullptr); }

  /// Work of a stream that takes so long on the device.
  static void work(const Stream& stream, Seconds time) {
    fake_cuda_enqueue(stream.get(), [time] { fake_cuda_spend(time); });
  }

  std::vector<DeviceStream> both() const { return {first_.view(), second_.view()}; }
  void wait() const { wait_for(both(), 60); }

  test::ScriptedClock host_;
  Stream first_ = Stream::create(0);
  Stream second_ = Stream::create(0);
};

TEST_F(CudaClockTest, GivesTheTimeBetweenMarksOfEachStream) {
  CudaClock clock(both());
  clock.reserve(3);
  clock.mark();
  work(first_, 2);
  work(second_, 4);
  clock.mark();
  clock.mark();
  wait();
  const auto intervals = clock.intervals();
  ASSERT_EQ(intervals.size(), 2U);
  ASSERT_EQ(intervals[0].size(), 2U);
  ASSERT_EQ(intervals[1].size(), 2U);
  EXPECT_EQ(intervals, (std::vector<std::vector<Seconds>>{{2, 0}, {4, 0}}));
}

TEST_F(CudaClockTest, LearnsItsStepFromItsIntervals) {
  constexpr Seconds kStep = 32e-9;
  CudaClock clock({first_.view()});
  EXPECT_DOUBLE_EQ(clock.resolution(), 0.5e-6) << "as CUDA says";
  for (const int steps : {200, 200, 203, 201, 202}) {
    clock.reset();
    clock.mark();
    work(first_, steps * kStep);
    clock.mark();
    wait();
    (void)clock.intervals();
  }
  EXPECT_NEAR(clock.resolution(), kStep, kStep / 10);
}

TEST_F(CudaClockTest, BeginsAgainAfterReset) {
  CudaClock clock({first_.view()});
  EXPECT_EQ(clock.intervals().at(0).size(), 0U);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 5; ++i) {
      clock.mark();
      work(first_, round + i);
    }
    wait();
    const Seconds begin = round;
    EXPECT_EQ(clock.intervals().at(0), (std::vector<Seconds>{begin, begin + 1, begin + 2, begin + 3}));
    clock.reset();
  }
}

TEST_F(CudaClockTest, RefusesMarksThatWereNotPassedYet) {
  CudaClock clock({first_.view()});
  std::atomic<bool> go = false;
  clock.mark();
  fake_cuda_enqueue(first_.get(), [&] { go.wait(false); });
  clock.mark();
  EXPECT_THROW((void)clock.intervals(), Error);
  go = true;
  go.notify_all();
  wait();
  EXPECT_EQ(clock.intervals().at(0).size(), 1U);
}

TEST_F(CudaClockTest, HoldsWorkBehindItsGateOnEveryStream) {
  CudaClock clock(both());
  wait();
  for (int round = 0; round < 3; ++round) {
    std::atomic<int> done = 0;
    std::mutex mutex;
    std::map<std::thread::id, int>
        looks;  // of gates at the clock: one to begin with, and one each time they are closed
    host_.when_reading([&, host = std::this_thread::get_id()](int) {
      const std::lock_guard lock(mutex);
      if (std::this_thread::get_id() != host) ++looks[std::this_thread::get_id()];
    });
    const auto both_gates_hold = [&] {
      const std::lock_guard lock(mutex);
      return std::count_if(looks.begin(), looks.end(), [](const auto& gate) { return gate.second > 1; }) == 2;
    };
    clock.close_gate();
    fake_cuda_enqueue(first_.get(), [&] { ++done; });
    fake_cuda_enqueue(second_.get(), [&] { ++done; });
    while (done == 0 && !both_gates_hold()) std::this_thread::yield();
    EXPECT_EQ(done, 0);
    host_.when_reading([](int) {});
    clock.open_gate();
    wait();
    EXPECT_EQ(done, 2);
    EXPECT_FALSE(clock.gate_gave_up());
  }
}

TEST_F(CudaClockTest, KeepsTheLaunchOutOfWhatItMeasures) {
  CudaClock clock({first_.view()}, 1000);  // longer than the launch: the gate may have begun to wait before it
  wait();
  const auto slow_launch = [&] {
    clock.mark();
    host_.advance(100);
    work(first_, 2);
    clock.mark();
  };
  slow_launch();
  wait();
  EXPECT_EQ(clock.intervals().at(0).at(0), 102) << "without a gate it is part of it";
  clock.reset();
  clock.close_gate();
  slow_launch();
  clock.open_gate();
  wait();
  EXPECT_EQ(clock.intervals().at(0).at(0), 2);
}

TEST_F(CudaClockTest, OpensAllGatesAtOnce) {
  CudaClock clock({first_.view()});
  clock.close_gate();
  clock.close_gate();
  clock.open_gate();
  wait();
  EXPECT_FALSE(clock.gate_gave_up());
}

TEST_F(CudaClockTest, SaysSoWhenAGateOpenedItself) {
  CudaClock clock({first_.view()}, 20);
  wait();
  clock.mark();
  std::atomic<int> looks = 0;
  host_.when_reading([&, host = std::this_thread::get_id()](int) { looks += std::this_thread::get_id() != host; });
  clock.close_gate();
  clock.mark();
  while (looks < 2) std::this_thread::yield();  // the gate has taken its time, and waits
  host_.advance(20);
  const int before = looks;
  while (looks < before + 2) std::this_thread::yield();
  EXPECT_FALSE(clock.gate_gave_up()) << "it waits for all of its time";
  host_.advance(1);
  wait();
  EXPECT_TRUE(clock.gate_gave_up());
  try {
    (void)clock.intervals();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("opened itself after 20 s"), std::string::npos) << error.what();
  }
  EXPECT_FALSE(clock.gate_gave_up());
  EXPECT_EQ(clock.intervals().at(0).size(), 1U);
}

TEST_F(CudaClockTest, LeavesNoGateClosedBehind) {
  {
    CudaClock clock(both());
    clock.close_gate();
  }
  wait();
}

TEST_F(CudaClockTest, GoesWhileAStreamHangs) {
  std::atomic<bool> go = false;
  {
    CudaClock clock({first_.view()});
    wait();
    fake_cuda_enqueue(first_.get(), [&] { go.wait(false); });
    host_.when_reading([&](int) { host_.advance(0.25); });
  }
  EXPECT_NEAR(host_.shows(), 1001.5, 0.25) << "it had a second to end";
  go = true;
  go.notify_all();
  host_.when_reading([](int) {});
  wait();
}

}  // namespace cuda_clock_test
