#include "common/cuda/clock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "common/core/error.h"
#include "common/cuda/wait.h"
#include "fake_cuda.h"

using namespace fabricbench;
using namespace fabricbench::cuda;

namespace cuda_clock_test {

void sleep_ms(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

class CudaClockTest : public testing::Test {
 protected:
  std::vector<DeviceStream> both() const { return {first_.view(), second_.view()}; }
  void wait() const { wait_for(both(), 60); }

  Stream first_ = Stream::create(0);
  Stream second_ = Stream::create(0);
};

TEST_F(CudaClockTest, GivesTheTimeBetweenMarksOfEachStream) {
  CudaClock clock(both());
  clock.reserve(3);
  clock.mark();
  fake_cuda_enqueue(first_.get(), [] { sleep_ms(20); });
  fake_cuda_enqueue(second_.get(), [] { sleep_ms(40); });
  clock.mark();
  clock.mark();
  wait();
  const auto intervals = clock.intervals();
  ASSERT_EQ(intervals.size(), 2U);
  ASSERT_EQ(intervals[0].size(), 2U);
  ASSERT_EQ(intervals[1].size(), 2U);
  EXPECT_GE(intervals[0][0], 0.0199);
  EXPECT_GE(intervals[1][0], 0.0399);
  EXPECT_LT(intervals[0][1], 0.02);
}

TEST_F(CudaClockTest, BeginsAgainAfterReset) {
  CudaClock clock({first_.view()});
  EXPECT_EQ(clock.intervals().at(0).size(), 0U);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 5; ++i) clock.mark();
    wait();
    const std::vector<Seconds> intervals = clock.intervals().at(0);
    EXPECT_EQ(intervals.size(), 4U);
    for (const Seconds interval : intervals) EXPECT_GE(interval, 0);
    clock.reset();
  }
}

TEST_F(CudaClockTest, RefusesMarksThatWereNotPassedYet) {
  CudaClock clock({first_.view()});
  std::atomic<bool> go = false;
  clock.mark();
  fake_cuda_enqueue(first_.get(), [&] {
    while (!go) sleep_ms(1);
  });
  clock.mark();
  EXPECT_THROW((void)clock.intervals(), Error);
  go = true;
  wait();
  EXPECT_EQ(clock.intervals().at(0).size(), 1U);
}

TEST_F(CudaClockTest, HoldsWorkBehindItsGateOnEveryStream) {
  CudaClock clock(both());
  for (int round = 0; round < 3; ++round) {
    std::atomic<int> done = 0;
    clock.close_gate();
    fake_cuda_enqueue(first_.get(), [&] { ++done; });
    fake_cuda_enqueue(second_.get(), [&] { ++done; });
    sleep_ms(20);
    EXPECT_EQ(done, 0);
    clock.open_gate();
    wait();
    EXPECT_EQ(done, 2);
    EXPECT_FALSE(clock.gate_gave_up());
  }
}

TEST_F(CudaClockTest, KeepsTheLaunchOutOfWhatItMeasures) {
  CudaClock clock({first_.view()});
  clock.close_gate();
  clock.mark();
  fake_cuda_enqueue(first_.get(), [] {});
  clock.mark();
  sleep_ms(50);  // a slow launch
  clock.open_gate();
  wait();
  EXPECT_LT(clock.intervals().at(0).at(0), 0.04);
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
  CudaClock clock({first_.view()}, 0.02);
  clock.mark();
  clock.close_gate();
  clock.mark();
  wait();
  EXPECT_TRUE(clock.gate_gave_up());
  try {
    (void)clock.intervals();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("opened itself after 20 ms"), std::string::npos) << error.what();
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
    fake_cuda_enqueue(first_.get(), [&] {
      while (!go) sleep_ms(1);
    });
  }
  go = true;
  wait();
}

}  // namespace cuda_clock_test
