#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "common/backends/cuda/stream.h"
#include "common/core/error.h"
#include "fake_cuda.h"
#include "scoped_variable.h"
#include "scripted_clock.h"

using namespace fabricbench;
using namespace fabricbench::cuda;
using fabricbench::test::ScopedVariable;

namespace cuda_streams_test {

/// Keeps a stream busy until it is told to go on.
class Blocker {
 public:
  explicit Blocker(const Stream& stream) : stream_(stream.view()) {
    fake_cuda_enqueue(stream.get(), [this] { go_.wait(false); });
  }
  ~Blocker() {
    go();
    wait_for({&stream_, 1}, 60);
  }
  void go() {
    go_ = true;
    go_.notify_all();
  }

 private:
  DeviceStream stream_;
  std::atomic<bool> go_ = false;
};

TEST(Wait, ReturnsWhenAllStreamsAreDone) {
  const Stream first = Stream::create(0);
  const Stream second = Stream::create(0);
  std::vector<int> done;
  Blocker before_first(first);
  Blocker before_second(second);
  fake_cuda_enqueue(first.get(), [&] { done.push_back(1); });
  fake_cuda_enqueue(second.get(), [&] {  // waits for nobody but the poll that found the first one done
    done.push_back(2);
  });
  const std::vector<DeviceStream> both{first.view(), second.view()};
  int rounds = 0;
  wait_for(both, 60, [&] {
    if (++rounds == 3) before_first.go();
    if (cudaStreamQuery(first.get()) == cudaSuccess) before_second.go();
    cudaGetLastError();
  });
  EXPECT_EQ(done, (std::vector<int>{1, 2}));
  EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "waiting left cudaErrorNotReady behind";
  wait_for({}, 60);
}

TEST(Wait, EndsAtItsLimitAndNamesTheDevice) {
  const Stream stream = Stream::create(0);
  const Blocker blocker(stream);
  const DeviceStream view = stream.view();
  const test::ScriptedClock clock(1000, 1);
  try {
    wait_for({&view, 1}, 5);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kTimeout);
    EXPECT_STREQ(error.what(), "cuda: device 0 has not finished its work after 5 s");
  }
  EXPECT_EQ(clock.readings(), 7);  // one to begin with, those 1 to 5 s later, and the one behind the limit
}

TEST(Wait, AsksBetweenRoundsAndEndsWhereThatThrows) {
  const Stream stream = Stream::create(0);
  const DeviceStream view = stream.view();
  Blocker blocker(stream);
  int rounds = 0;
  EXPECT_THROW(wait_for({&view, 1}, 60,
                        [&] {
                          if (++rounds == 3) throw std::runtime_error("lost a peer");
                        }),
               std::runtime_error);
  EXPECT_EQ(rounds, 3);
  wait_for({&view, 1}, 0, [&] {
    if (++rounds == 6) blocker.go();
  });
  EXPECT_GE(rounds, 6);
}

TEST(Wait, ReportsADeviceThatFailed) {
  const Stream stream = Stream::create(0);
  const DeviceStream view = stream.view();
  fake_cuda_enqueue_fallible(stream.get(), [] { return cudaErrorLaunchFailure; });
  try {
    wait_for({&view, 1}, 60);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kFailure);
    EXPECT_STREQ(error.what(), "cuda: cudaStreamQuery: unspecified launch failure (cudaErrorLaunchFailure)");
  }
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(Wait, KnowsTheDefaultStreamOfEachDevice) {
  setenv("FAKE_CUDA_DEVICES", "2", 1);
  make_current(0);
  const Stream other = Stream::null(1);
  std::atomic<bool> go = false;
  std::atomic<bool> done = false;
  {
    const DeviceGuard guard(1);
    EXPECT_EQ(fake_cuda_device_of(other.get()), 1);
    fake_cuda_enqueue(other.get(), [&] {
      go.wait(false);
      done = true;
    });
  }
  const DeviceStream view = other.view();
  wait_for({&view, 1}, 60, [&] {
    go = true;
    go.notify_all();
  });
  EXPECT_TRUE(done);
  unsetenv("FAKE_CUDA_DEVICES");
}

TEST(DeviceGuard, RefusesADeviceThatIsNotThere) {
  EXPECT_THROW(const DeviceGuard guard(7), Error);
  int current = -1;
  EXPECT_EQ(cudaGetDevice(&current), cudaSuccess);
  EXPECT_EQ(current, 0);
}

int current_device() {
  int device = -1;
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  return device;
}

TEST(DeviceGuard, StaysOnItsDeviceInAThreadThatHasChosenNone) {
  const ScopedVariable devices("FAKE_CUDA_DEVICES", "4");
  const int contexts = fake_cuda_contexts();
  std::thread([&] {
    { const DeviceGuard guard(3); }
    EXPECT_EQ(current_device(), 3) << "CUDA makes a context where a thread goes back to device 0";
    {
      const DeviceGuard inner(3);
      const DeviceGuard other(2);
      EXPECT_EQ(current_device(), 2);
    }
    EXPECT_EQ(current_device(), 3);
  }).join();
  EXPECT_LE(fake_cuda_contexts(), contexts + 2);
}

TEST(DeviceGuard, GoesBackToTheDeviceThatTheThreadHasChosen) {
  const ScopedVariable devices("FAKE_CUDA_DEVICES", "4");
  std::thread([] {
    make_current(1);
    { const DeviceGuard guard(2); }
    EXPECT_EQ(current_device(), 1);
  }).join();
}

TEST(Recording, CarriesNothingOutUntilItIsLaunched) {
  const Stream first = Stream::create(0);
  const Stream second = Stream::create(0);
  const std::vector<DeviceStream> both{first.view(), second.view()};
  Recording recording(both);
  std::atomic<int> sum = 0;
  recording.begin();
  for (int i = 0; i < 3; ++i) fake_cuda_enqueue(first.get(), [&] { ++sum; });
  fake_cuda_enqueue(second.get(), [&] { sum += 100; });
  recording.end();
  wait_for(both, 60);
  EXPECT_EQ(sum, 0);
  for (int launches = 1; launches <= 3; ++launches) {
    recording.launch();
    wait_for(both, 60);
    EXPECT_EQ(sum, 103 * launches);
  }
}

TEST(Recording, DropsTheLastOneWhenItBeginsAgain) {
  const Stream stream = Stream::create(0);
  const DeviceStream view = stream.view();
  Recording recording({view});
  std::atomic<int> sum = 0;
  for (int round = 0; round < 2; ++round) {
    recording.begin();
    fake_cuda_enqueue(stream.get(), [&] { ++sum; });
    recording.end();
  }
  recording.launch();
  wait_for({&view, 1}, 60);
  EXPECT_EQ(sum, 1);
}

TEST(Recording, LeavesTheStreamsUsableWhereItWasGivenUp) {
  const Stream stream = Stream::create(0);
  const DeviceStream view = stream.view();
  std::atomic<int> sum = 0;
  {
    Recording recording({view});
    recording.begin();
    fake_cuda_enqueue(stream.get(), [&] { ++sum; });
  }
  fake_cuda_enqueue(stream.get(), [&] { sum += 10; });
  wait_for({&view, 1}, 60);
  EXPECT_EQ(sum, 10);
}

TEST(Recording, FailsWhereSomethingCannotBeRecorded) {
  const Stream first = Stream::create(0);
  const Stream second = Stream::create(0);
  const std::vector<DeviceStream> both{first.view(), second.view()};
  Recording recording(both);
  recording.begin();
  EXPECT_THROW(wait_for({&both[1], 1}, 60), Error) << "waiting is refused while recording";
  try {
    recording.end();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("cudaErrorStreamCaptureInvalidated"), std::string::npos) << error.what();
  }
  EXPECT_THROW(recording.launch(), Error);
  wait_for(both, 60);
  EXPECT_THROW(Recording({Stream::null(0).view()}).begin(), Error);
}

}  // namespace cuda_streams_test
