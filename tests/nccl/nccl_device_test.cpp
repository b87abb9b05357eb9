// -D and -V: everything but the kernels, whose launches the fakes carry out as collectives of the fake NCCL. What the
// kernels do is in nccl_device_work_test, and on a GPU in scripts/gpu_check.sh.

#include <cstdlib>
#include <functional>

#include <dlfcn.h>

#include "common/core/error.h"
#include "nccl_fixture.h"

namespace fabricbench::nccl {
namespace nccl_device_test {

constexpr std::size_t kCount = 1003;

/// Device communicators of this process.
int device_communicators() {
  static const auto library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_NOLOAD);
  const auto count = reinterpret_cast<int* (*)()>(dlsym(library, "fake_nccl_device_communicators"));
  return *count();
}

/// A variable of the fake's as long as it lives.
class Set {
 public:
  Set(const char* variable, const char* value) : variable_(variable) { setenv(variable, value, 1); }
  ~Set() { unsetenv(variable_); }

 private:
  const char* variable_;
};

class NcclDeviceTest : public NcclTest {
 protected:
  static Options options_of(int implementation) {
    Options options = test_options();
    options.registration = Registration::kSymmetric;
    options.device_implementation = implementation;
    return options;
  }

  /// A session that measures all_to_all.
  std::unique_ptr<NcclSession> make_all_to_all(int implementation) {
    ProcessGroup group = group_of(world_);
    group.all_to_all = true;
    return std::make_unique<NcclSession>(load_library(), group, options_of(implementation));
  }

  Error error_of(const Options& options, bool all_to_all = false) {
    try {
      all_to_all ? make_all_to_all(static_cast<int>(options.device_implementation)) : make_session(options);
    } catch (const Error& error) {
      return error;
    }
    return Error(ExitStatus::kOk, "no error");
  }

  static Error error_of(Session& session, const std::function<void(CollectiveBackend&)>& operation) {
    try {
      run(session, [&](int, CollectiveBackend& backend) { operation(backend); });
    } catch (const Error& error) {
      return error;
    }
    return Error(ExitStatus::kOk, "no error");
  }

  /// Of `count` elements from the `shift`-th on.
  void expect_sum(Session& session, DataType type, std::size_t count, std::size_t shift, bool in_place) {
    const std::size_t size = facts(type).size;
    const Buffers send(session, (count + shift) * size + 64);
    const Buffers recv(session, (count + shift) * size + 64);
    const auto message = [&](const Buffers& of, int i) { return of.on(i).subspan(shift * size, count * size); };
    for (int i = 0; i < session.local_ranks(); ++i) {
      session.memory(i).set(recv.on(i), pattern::kPoisonByte);
      session.memory(i).fill(message(in_place ? recv : send, i),
                             PatternTable::sent(type, Reduction::kSum, rank_of(i), ranks()), {});
    }
    run(session, [&](int i, CollectiveBackend& backend) {
      backend.all_reduce(message(in_place ? recv : send, i).data(), message(recv, i).data(), count, type,
                         Reduction::kSum);
    });
    for (int i = 0; i < session.local_ranks(); ++i) {
      const auto wrong =
          session.memory(i).check(message(recv, i), PatternTable::reduced(type, Reduction::kSum, ranks()), {});
      EXPECT_FALSE(wrong) << facts(type).name << ": " << wrong->count << " wrong of " << count;
    }
  }
};

TEST_F(NcclDeviceTest, AllReduceSumsInSymmetricWindows) {
  for (int implementation = 1; implementation <= 4; ++implementation) {
    const auto session = make_session(options_of(implementation));
    for (const DataTypeFacts& type : kDataTypes) {
      if (!session->why_not(type.type, Reduction::kSum).empty()) continue;
      for (const std::size_t count : {std::size_t{0}, std::size_t{1}, kCount}) {
        for (const std::size_t shift : {0, 1}) {
          expect_sum(*session, type.type, count, shift, false);
          expect_sum(*session, type.type, count, shift, true);
        }
      }
    }
  }
}

TEST_F(NcclDeviceTest, AllToAllCarriesBlocks) {
  for (const int implementation : {1, 2, 3, 4}) {
    const auto session = make_all_to_all(implementation);
    const auto blocks = static_cast<std::size_t>(ranks());
    const Buffers send(*session, blocks * kCount * sizeof(float));
    const Buffers recv(*session, blocks * kCount * sizeof(float));
    const PatternTable table = PatternTable::moved(DataType::kFloat, 0);
    for (int i = 0; i < session->local_ranks(); ++i) {
      const auto shift = pattern::source_shift(static_cast<std::uint64_t>(rank_of(i)));
      session->memory(i).fill(send.on(i), table, {0, shift});
      session->memory(i).set(recv.on(i), pattern::kPoisonByte);
    }
    run(*session, [&](int i, CollectiveBackend& backend) {
      backend.all_to_all(send.on(i).data(), recv.on(i).data(), kCount, DataType::kFloat);
    });
    for (int i = 0; i < session->local_ranks(); ++i) {
      for (std::size_t source = 0; source < blocks; ++source) {
        const auto block = recv.on(i).subspan(source * kCount * sizeof(float), kCount * sizeof(float));
        const PatternPosition place{static_cast<std::size_t>(rank_of(i)) * kCount, pattern::source_shift(source)};
        EXPECT_FALSE(session->memory(i).check(block, table, place)) << "block " << source << " on " << rank_of(i);
      }
    }
  }
}

TEST_F(NcclDeviceTest, RunsWithEveryNumberOfCtas) {
  for (const std::int64_t ctas : {1, 16, 128}) {
    Options options = options_of(1);
    options.device_ctas = ctas;
    const auto session = make_session(options);
    expect_sum(*session, DataType::kFloat, kCount, 0, true);
    EXPECT_NE(session->library().find("-D 1, " + std::to_string(ctas) + " CTAs"), std::string::npos);
  }
}

TEST_F(NcclDeviceTest, IsRecorded) {
  const auto session = make_session(options_of(2));
  const Buffers data(*session, kCount * sizeof(float));
  const PatternTable table = PatternTable::sent(DataType::kFloat, Reduction::kSum, 0, ranks());
  session->recorder()->begin();
  start(*session, [&](int i, CollectiveBackend& backend) {
    backend.all_reduce(data.on(i).data(), data.on(i).data(), kCount, DataType::kFloat, Reduction::kSum);
  });
  session->recorder()->end();
  for (int i = 0; i < session->local_ranks(); ++i) {
    session->memory(i).fill(data.on(i), PatternTable::sent(DataType::kFloat, Reduction::kSum, rank_of(i), ranks()), {});
  }
  session->recorder()->launch();
  session->wait();
  for (int i = 0; i < session->local_ranks(); ++i) {
    EXPECT_FALSE(
        session->memory(i).check(data.on(i), PatternTable::reduced(DataType::kFloat, Reduction::kSum, ranks()), {}));
  }
}

TEST_F(NcclDeviceTest, DestroysItsDeviceCommunicators) {
  static_cast<void>(make_session(test_options()));  // loads the library
  const int before = device_communicators();
  {
    const auto session = make_session(options_of(1));
    EXPECT_EQ(device_communicators(), before + gpus_per_process());
  }
  EXPECT_EQ(device_communicators(), before);
}

TEST_F(NcclDeviceTest, TakesSymmetricWindows) {
  for (const Registration kind : {Registration::kNone, Registration::kLocal}) {
    Options options = options_of(2);
    options.registration = kind;
    const Error error = error_of(options);
    EXPECT_EQ(error.status(), ExitStatus::kUsage);
    EXPECT_STREQ(error.what(), "-D 2: its kernels reach the buffers through symmetric windows; add -R 2");
  }
}

TEST_F(NcclDeviceTest, RefusesWhatItsKernelsDoNotAdd) {
  const auto lsa = make_session(options_of(1));
  EXPECT_EQ(lsa->why_not(DataType::kInt8, Reduction::kSum), "");
  EXPECT_EQ(lsa->why_not(DataType::kF8e4m3, Reduction::kNone), "");
  EXPECT_EQ(lsa->why_not(DataType::kF8e4m3, Reduction::kSum), "-D 1 does not add f8e4m3");
  EXPECT_EQ(lsa->why_not(DataType::kFloat, Reduction::kProd), "-D 1 reduces by sum only, not by prod");
  const auto multimem = make_session(options_of(4));
  EXPECT_EQ(multimem->why_not(DataType::kBfloat16, Reduction::kSum), "");
  EXPECT_EQ(multimem->why_not(DataType::kDouble, Reduction::kSum), "-D 4 adds float, half and bfloat16, not double");
}

TEST_F(NcclDeviceTest, RefusesOtherOperationsOnAllRanks) {
  const auto session = make_session(options_of(1));
  const Buffers data(*session, 1024);
  void* buffer = data.on(0).data();
  for (const auto& operation : std::vector<std::function<void(CollectiveBackend&)>>{
           [&](CollectiveBackend& backend) { backend.all_gather(buffer, buffer, 1, DataType::kFloat); },
           [&](CollectiveBackend& backend) { backend.reduce(buffer, buffer, 1, DataType::kFloat, Reduction::kSum, 0); },
           [&](CollectiveBackend& backend) {
             backend.send_recv(buffer, buffer, 1, DataType::kFloat, {0, 0});
           },
           [&](CollectiveBackend& backend) { backend.send(buffer, 1, DataType::kFloat, 0); },
           [&](CollectiveBackend& backend) { backend.recv(buffer, 1, DataType::kFloat, 0); },
           [&](CollectiveBackend& backend) { backend.start_send(buffer, 1, DataType::kFloat, 0); },
           [&](CollectiveBackend& backend) { backend.start_recv(buffer, 1, DataType::kFloat, 0); },
           [&](CollectiveBackend& backend) { backend.finish(); },
           [&](CollectiveBackend& backend) {
             backend.all_reduce(buffer, buffer, 1, DataType::kFloat, Reduction::kMax);
           },
           [&](CollectiveBackend& backend) { backend.barrier(); }}) {
    EXPECT_EQ(error_of(*session, operation).status(), ExitStatus::kMissing);
  }
  const Error error = error_of(*session, [](CollectiveBackend& backend) { backend.barrier(); });
  EXPECT_STREQ(
      error.what(),
      "-D 1: there are kernels for all_reduce and alltoall, none for barrier; leave out -D to measure NCCL's own");
}

TEST_F(NcclDeviceTest, DrivesAdaptersForAllToAllOnly) {
  const auto multimem = make_session(options_of(3));
  const Buffers data(*multimem, 1024);
  void* buffer = data.on(0).data();
  Error error =
      error_of(*multimem, [&](CollectiveBackend& all) { all.all_to_all(buffer, buffer, 1, DataType::kFloat); });
  EXPECT_EQ(error.status(), ExitStatus::kMissing);
  EXPECT_NE(std::string(error.what()).find("none for alltoall by multimem"), std::string::npos) << error.what();
}

TEST_F(NcclDeviceTest, ReachesRanksBeyondLoadsByAdapters) {
  const Set alone("FAKE_NCCL_LSA_SIZE", "1");
  for (const int implementation : {3, 4}) EXPECT_NO_THROW(make_all_to_all(implementation));
}

TEST_F(NcclDeviceTest, SaysThatNoAdapterCanBeDriven) {
  const Set none("FAKE_NCCL_NO_GIN", "1");
  for (const int implementation : {3, 4}) {
    const Error error = error_of(options_of(implementation), true);
    EXPECT_EQ(error.status(), ExitStatus::kMissing);
    const std::string text = error.what();
    EXPECT_EQ(text.rfind("-D " + std::to_string(implementation) + ": nccl: rank ", 0), 0U) << text;
    EXPECT_NE(text.find("No GIN-capable devices found; NCCL cannot do it on this machine, leave out -D"),
              std::string::npos)
        << text;
  }
  EXPECT_NO_THROW(make_all_to_all(2));
}

TEST_F(NcclDeviceTest, NeverTouchesABufferOfNoWindow) {
  const auto session = make_session(options_of(1));
  const Buffers data(*session, 1024);
  std::byte* outside = data.on(0).data() + (std::size_t{1} << 30);
  const Error error = error_of(*session, [&](CollectiveBackend& backend) {
    backend.all_reduce(outside, outside, 1, DataType::kFloat, Reduction::kSum);
  });
  EXPECT_EQ(error.status(), ExitStatus::kFailure);
  EXPECT_NE(std::string(error.what()).find("no symmetric window"), std::string::npos) << error.what();
}

TEST_F(NcclDeviceTest, SaysWhatTheMachineLacks) {
  const auto expect_missing = [this](int implementation, const std::string& text) {
    const Error error = error_of(options_of(implementation));
    EXPECT_EQ(error.status(), ExitStatus::kMissing);
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    EXPECT_EQ(std::string(error.what()).rfind("-D " + std::to_string(implementation), 0), 0U) << error.what();
  };
  {
    const Set symmetric("FAKE_NCCL_NO_SYMMETRIC", "1");
    expect_missing(1, "does not support symmetric memory");
  }
  {
    const Set multimem("FAKE_NCCL_NO_MULTIMEM", "1");
    expect_missing(3, "Multicast support requested for team but none available");
    EXPECT_NO_THROW(make_session(options_of(2)));
  }
  if (ranks() < 2) return;
  const Set alone("FAKE_NCCL_LSA_SIZE", "1");
  expect_missing(2, "here only 1 of " + std::to_string(ranks()) + " can");
}

TEST_F(NcclDeviceTest, DoesNotSayWhatNcclChose) {
  const auto session = make_session(options_of(1));
  EXPECT_EQ(session->why_no_choices(), "with -D the kernels are not NCCL's");
}

}  // namespace nccl_device_test
}  // namespace fabricbench::nccl
