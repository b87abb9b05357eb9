// The session besides its operations, on a library that has everything.

#include <dlfcn.h>

#include <atomic>
#include <thread>

#include "common/core/error.h"
#include "fake_cuda.h"
#include "nccl_fixture.h"
#include "scripted_clock.h"

namespace fabricbench::nccl {
namespace nccl_session_test {

using testing::Test;

constexpr std::size_t kBytes = 4096;
constexpr std::size_t kCount = kBytes / sizeof(float);

using NcclSessionTest = NcclTest;

/// Blocks that the fake library has registered in this process now.
int registered() {
  void* library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_NOLOAD);
  const auto count = reinterpret_cast<int (*)()>(dlsym(library, "fake_nccl_registered"));
  const int result = count();
  dlclose(library);
  return result;
}

void all_reduce(Session& session, const Buffers& data) {
  start(session, [&](int i, CollectiveBackend& backend) {
    backend.all_reduce(data.on(i).data(), data.on(i).data(), kCount, DataType::kFloat, Reduction::kSum);
  });
}

/// Sets the first element on every rank of this process.
void set_first(Session& session, const Buffers& data, float value) {
  for (int i = 0; i < session.local_ranks(); ++i) {
    session.memory(i).set(data.on(i), 0);
    std::memcpy(data.on(i).data(), &value, sizeof value);  // the fake's device memory is the host's
  }
}

float first(Session& session, const Buffers& data, int local_rank) {
  float value = 0;
  session.memory(local_rank)
      .copy_to_host(data.on(local_rank).first(sizeof value), reinterpret_cast<std::byte*>(&value));
  return value;
}

TEST_F(NcclSessionTest, TellsWhatItIs) {
  const auto session = make_session();
  EXPECT_EQ(session->library(), "NCCL 2.28.9, headers " + version_text(header_version()));
  EXPECT_EQ(session->local_ranks(), gpus_per_process());
  EXPECT_EQ(session->conventions().average, Average::kMultipliesEachValue);
  EXPECT_TRUE(session->conventions().broadcast_copies_at_root);
  EXPECT_TRUE(session->conventions().reduce_scatter_stays_in_block);
  const std::string own = "rank " + std::to_string(rank_of(0)) + " on GPU ";
  EXPECT_NE(session->state().find(own), std::string::npos) << session->state();
  EXPECT_NE(session->state().find("NCCL: "), std::string::npos) << session->state();
}

TEST_F(NcclSessionTest, TakesEightBitFloats) {
  const auto session = make_session();
  EXPECT_EQ(session->why_not(DataType::kF8e4m3, Reduction::kSum), "");
  EXPECT_EQ(session->why_not(DataType::kF8e5m2, Reduction::kMulSum),
            ranks() > 1 ? "" : "NCCL has no mulsum of f8e5m2 for one rank alone");
}

TEST_F(NcclSessionTest, SaysWhichGpuIsTooOldForEightBitFloats) {
  ProcessGroup group = group_of(world_);
  const auto min = group.min;
  group.min = [min](std::int64_t value) { return min(value == 90 ? 80 : value); };
  const NcclSession session(load_library(), group, test_options().nccl);
  EXPECT_EQ(session.why_not(DataType::kF8e5m2, Reduction::kSum),
            "NCCL computes with f8e5m2 where the GPU has compute capability 9.0 or newer; here is one of 8.0");
  EXPECT_EQ(session.why_not(DataType::kBfloat16, Reduction::kSum), "");
}

TEST_F(NcclSessionTest, RefusesUnequalLibraries) {
  ProcessGroup group = group_of(world_);
  const auto min = group.min;
  group.min = [min](std::int64_t value) { return min(value == 22809 ? 21806 : value); };
  try {
    const NcclSession session(load_library(), group, test_options().nccl);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kMissing);
    EXPECT_NE(std::string(error.what()).find("the processes have NCCL 2.18.6 to 2.28.9"), std::string::npos)
        << error.what();
  }
}

TEST_F(NcclSessionTest, RecordsOperationsAndLaunchesThemAgain) {
  const auto session = make_session();
  ASSERT_NE(session->recorder(), nullptr);
  const Buffers data(*session, kBytes);
  set_first(*session, data, 1);
  session->recorder()->begin();
  all_reduce(*session, data);
  session->recorder()->end();
  for (int i = 0; i < session->local_ranks(); ++i) EXPECT_EQ(first(*session, data, i), 1);
  session->recorder()->launch();
  session->recorder()->launch();
  session->wait();
  for (int i = 0; i < session->local_ranks(); ++i) {
    EXPECT_EQ(first(*session, data, i), static_cast<float>(ranks() * ranks()));
  }
}

/// NCCL destroys no communicator while a CUDA graph has an operation of it.
TEST_F(NcclSessionTest, EndsWithARecordingAtOnce) {
  Options options = test_options();
  options.timeout = 10;
  auto session = make_session(options);
  std::optional<Buffers> data(std::in_place, *session, kBytes);
  session->recorder()->begin();
  all_reduce(*session, *data);
  session->recorder()->end();
  session->recorder()->launch();
  session->wait();
  data.reset();
  testing::internal::CaptureStderr();
  session.reset();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(NcclSessionTest, WorksOnTheNullStreamWithoutRecording) {
  Options options = test_options();
  options.nccl.null_stream = true;
  const auto session = make_session(options);
  EXPECT_EQ(session->recorder(), nullptr);
  const Buffers data(*session, kBytes);
  set_first(*session, data, 1);
  all_reduce(*session, data);
  session->wait();
  EXPECT_EQ(first(*session, data, 0), static_cast<float>(ranks()));
}

TEST_F(NcclSessionTest, InitialisesInParallel) {
  Options options = test_options();
  options.nccl.parallel_init = true;
  const auto session = make_session(options);
  const Buffers data(*session, kBytes);
  set_first(*session, data, 2);
  all_reduce(*session, data);
  session->wait();
  EXPECT_EQ(first(*session, data, 0), 2 * static_cast<float>(ranks()));
}

TEST_F(NcclSessionTest, RegistersBuffers) {
  for (const Registration kind : {Registration::kLocal, Registration::kSymmetric}) {
    Options options = test_options();
    options.nccl.registration = kind;
    const auto session = make_session(options);
    {
      const Buffers data(*session, kBytes);
      const Buffers more(*session, kBytes);
      EXPECT_EQ(registered(), 2 * gpus_per_process());
      set_first(*session, data, 1);
      all_reduce(*session, data);
      session->wait();
      EXPECT_EQ(first(*session, data, 0), static_cast<float>(ranks()));
    }
    EXPECT_EQ(registered(), 0);
  }
}

TEST_F(NcclSessionTest, RegistersNothingUnasked) {
  const auto session = make_session();
  const Buffers data(*session, kBytes);
  EXPECT_EQ(registered(), 0);
}

TEST_F(NcclSessionTest, HandsTheCtaPolicyOn) {
  Options options = test_options();
  options.nccl.cta_policy = 2;
  EXPECT_NO_THROW(make_session(options));
  options.nccl.cta_policy = 9;
  try {
    make_session(options);
    FAIL() << "the library took policy 9";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("Invalid config policy attribute value 9"), std::string::npos)
        << error.what();
  }
}

TEST_F(NcclSessionTest, RefusesNonBlockingCommunicators) {
  setenv("NCCL_COMM_BLOCKING", "0", 1);
  try {
    make_session();
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kMissing);
    EXPECT_NE(std::string(error.what()).find("NCCL_COMM_BLOCKING"), std::string::npos) << error.what();
  }
  unsetenv("NCCL_COMM_BLOCKING");
}

TEST_F(NcclSessionTest, LeavesRoomOnTheDevice) {
  const auto session = make_session();
  const Bytes alone = session->device_memory().value();
  EXPECT_GT(alone, Bytes{0});
  ProcessGroup group = group_of(world_);
  group.sharing = 2;
  const NcclSession shared(load_library(), group, test_options().nccl);
  EXPECT_LE(shared.device_memory().value(), alone / 2);
}

TEST_F(NcclSessionTest, ReportsMemoryWhereAsked) {
  EXPECT_EQ(make_session()->memory_usage(), "");
  Options options = test_options();
  options.nccl.memory_report = true;
  const auto session = make_session(options);
  {
    const Buffers data(*session, Bytes{8} << 20);
    const std::string usage = session->memory_usage();
    EXPECT_NE(usage.find("Initialization "), std::string::npos) << usage;
    EXPECT_NE(usage.find(" | User-Allocated 8.00 MB | Collective 0.00 B | Total "), std::string::npos) << usage;
  }
  const std::string usage = session->memory_usage();
  EXPECT_NE(usage.find(" | User-Allocated 8.00 MB | "), std::string::npos) << "forgot released buffers: " << usage;
}

/// Counts closed gates by their looks at the clock: one to begin with, and one each time that they are found closed.
class GatesThatHold {
 public:
  GatesThatHold() {
    host() = std::this_thread::get_id();
    count() = 0;
    fake_cuda_script_time(look);
  }
  GatesThatHold(const GatesThatHold&) = delete;
  GatesThatHold& operator=(const GatesThatHold&) = delete;
  ~GatesThatHold() { fake_cuda_script_time(nullptr); }

  void wait_for(int gates) const {
    while (count() < gates) std::this_thread::yield();
  }

 private:
  static double look() {
    thread_local int looks = 0;  // of a stream, which has a thread of its own
    if (std::this_thread::get_id() != host() && ++looks == 2) ++count();
    return 0;
  }
  static std::thread::id& host() {
    static std::thread::id id;
    return id;
  }
  static std::atomic<int>& count() {
    static std::atomic<int> number;
    return number;
  }
};

TEST_F(NcclSessionTest, TakesDeviceTimesBehindAGate) {
  const auto session = make_session();
  const Buffers data(*session, kBytes);
  set_first(*session, data, 1);
  DeviceClock& clock = *session->device_clock();
  session->wait();
  clock.reset();
  const GatesThatHold gates;
  clock.close_gate();
  clock.mark();
  all_reduce(*session, data);
  clock.mark();
  gates.wait_for(gpus_per_process());
  float before = 0;
  std::memcpy(&before, data.on(0).data(), sizeof before);
  EXPECT_EQ(before, 1) << "the operation ran before the gate opened";
  clock.open_gate();
  session->wait();
  const auto intervals = clock.intervals();
  ASSERT_EQ(intervals.size(), static_cast<std::size_t>(gpus_per_process()));
  for (const auto& of_rank : intervals) ASSERT_EQ(of_rank.size(), 1U);
  EXPECT_EQ(first(*session, data, 0), static_cast<float>(ranks()));
}

TEST_F(NcclSessionTest, TellsWhyChoicesAreNotObserved) {
  const auto session = make_session();
  EXPECT_EQ(session->why_no_choices(), "it was not requested");
  EXPECT_EQ(session->choices(), nullptr);
}

TEST_F(NcclSessionTest, LeavesAnotherProfilerPluginAlone) {
  setenv("NCCL_PROFILER_PLUGIN", "inspector", 1);
  const auto session = make_session(test_options(), true);
  EXPECT_NE(session->why_no_choices().find("NCCL_PROFILER_PLUGIN is set to inspector"), std::string::npos)
      << session->why_no_choices();
  EXPECT_STREQ(std::getenv("NCCL_PROFILER_PLUGIN"), "inspector");
  unsetenv("NCCL_PROFILER_PLUGIN");
}

TEST_F(NcclSessionTest, CanBeAbandonedFromAnotherThreadWhileItWaits) {
  const auto session = make_session();
  const Buffers data(*session, kBytes);
  if (world_.is_root()) {
    DeviceClock& clock = *session->device_clock();
    clock.close_gate();
    all_reduce(*session, data);
    test::ScriptedClock host;
    host.when_reading([&, waiting = std::this_thread::get_id(), looks = 0](int) mutable {
      if (std::this_thread::get_id() != waiting || ++looks != 3) return;
      std::thread watchdog([&] {
        session->abandon();
        session->abandon();
        clock.open_gate();
      });
      watchdog.join();
    });
    EXPECT_THROW(session->wait(), Error);
  } else {
    session->abandon();
  }
  EXPECT_THROW(session->backend(0).barrier(), Error);
}

/// Communicators are released on threads that have chosen no device.
TEST_F(NcclSessionTest, MakesNoContextOnAnotherGpuWhenItEnds) {
  for (const bool abandons : {false, true}) {
    auto session = make_session();
    const int contexts = fake_cuda_contexts();
    if (abandons) session->abandon();
    session.reset();
    EXPECT_EQ(fake_cuda_contexts(), contexts) << abandons;
  }
}

}  // namespace nccl_session_test
}  // namespace fabricbench::nccl
