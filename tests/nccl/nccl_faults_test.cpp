// What goes wrong in the library is named, and ends in time.

#include <functional>

#include "common/core/error.h"
#include "nccl_fixture.h"
#include "scripted_clock.h"

namespace fabricbench::nccl {
namespace nccl_faults_test {

constexpr std::size_t kCount = 1024;
constexpr Seconds kNever = 0.1;  // for what never happens; what does happen may take as long as test_options() say

class NcclFaultsTest : public NcclTest {
 protected:
  ~NcclFaultsTest() override { unsetenv("FAKE_NCCL_FAULT"); }

  static Options limited() {
    Options options = test_options();
    options.timeout = kNever;
    return options;
  }

  static std::optional<Error> error_of(const std::function<void()>& action) {
    std::optional<Error> error;
    try {
      action();
    } catch (const Error& caught) {
      error = caught;
    }
    return error;
  }

  /// What a session ends with on this process that does all-reduces, of which the last one is faulty. All ranks come
  /// that far, however long it takes; then the clock shows that the limit has passed wherever a rank `gives_up`.
  std::optional<Error> error_of_operation(int faulty, bool gives_up) {
    const auto session = make_session();
    const Buffers data(*session, kCount * sizeof(float));
    const auto all_reduce = [&] {
      run(*session, [&](int i, CollectiveBackend& backend) {
        backend.all_reduce(data.on(i).data(), data.on(i).data(), kCount, DataType::kFloat, Reduction::kSum);
      });
    };
    for (int operation = 0; operation < faulty; ++operation) all_reduce();
    static_cast<void>(world_.min(0));
    if (!gives_up) return error_of(all_reduce);
    const test::ScriptedClock clock(1000, test_options().timeout);
    return error_of(all_reduce);
  }

  [[nodiscard]] int last_rank() const { return ranks() - 1; }
  [[nodiscard]] bool has(int rank) const { return rank / gpus_per_process() == world_.rank(); }
  static void expect_text(const Error& error, const std::string& text) {
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
  [[nodiscard]] static std::string named(int rank) { return "nccl: rank " + std::to_string(rank) + " on GPU "; }
};

std::string fault(const std::string& kind, int rank, int operation) {
  return kind + ":" + std::to_string(rank) + ":" + std::to_string(operation);
}

TEST_F(NcclFaultsTest, AnAsynchronousErrorIsNamed) {
  setenv("FAKE_NCCL_FAULT", fault("async_error", last_rank(), 1).c_str(), 1);
  const auto error = error_of_operation(1, !has(last_rank()));
  ASSERT_TRUE(error);
  if (has(last_rank())) {
    EXPECT_EQ(error->status(), ExitStatus::kFailure);
    expect_text(*error, named(last_rank()));
    expect_text(*error, "remote process exited or there was a network error: a link of rank");
  } else {
    EXPECT_EQ(error->status(), ExitStatus::kTimeout) << error->what();
    expect_text(*error, named(rank_of(0)));
  }
}

TEST_F(NcclFaultsTest, AHangEndsInATimeoutThatNamesTheRank) {
  setenv("FAKE_NCCL_FAULT", fault("hang", last_rank(), 2).c_str(), 1);
  const auto error = error_of_operation(2, true);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->status(), ExitStatus::kTimeout) << error->what();
  expect_text(*error, "rank " + std::to_string(has(last_rank()) ? last_rank() : rank_of(0)) + " on GPU ");
  expect_text(*error, "NCCL's last error: ");
}

TEST_F(NcclFaultsTest, AFailedCallIsNamed) {
  setenv("FAKE_NCCL_FAULT", fault("call_error", last_rank(), 1).c_str(), 1);
  const auto error = error_of_operation(1, !has(last_rank()));
  ASSERT_TRUE(error);
  if (!has(last_rank())) return;
  EXPECT_EQ(error->status(), ExitStatus::kFailure);
  expect_text(*error, named(last_rank()));
  expect_text(*error, "ncclAllReduce: unhandled system error: a call failed");
}

TEST_F(NcclFaultsTest, AWrongElementIsThere) {
  setenv("FAKE_NCCL_FAULT", fault("wrong", last_rank(), 0).c_str(), 1);
  const auto session = make_session();
  const Buffers data(*session, kCount * sizeof(float));
  for (int i = 0; i < session->local_ranks(); ++i) {
    session->memory(i).fill(data.on(i), PatternTable::sent(DataType::kFloat, Reduction::kSum, rank_of(i), ranks()), {});
  }
  run(*session, [&](int i, CollectiveBackend& backend) {
    backend.all_reduce(data.on(i).data(), data.on(i).data(), kCount, DataType::kFloat, Reduction::kSum);
  });
  for (int i = 0; i < session->local_ranks(); ++i) {
    const auto wrong =
        session->memory(i).check(data.on(i), PatternTable::reduced(DataType::kFloat, Reduction::kSum, ranks()), {});
    EXPECT_EQ(wrong.has_value(), rank_of(i) == last_rank());
    if (!wrong) continue;
    EXPECT_EQ(wrong->count, 1U);
    EXPECT_EQ(wrong->first_offset, kCount / 2);
  }
}

TEST_F(NcclFaultsTest, TooLittleMemoryIsMissingWithTheFigures) {
  const auto session = make_session();
  setenv("FAKE_NCCL_FAULT", "out_of_memory", 1);
  const auto error = error_of([&] { static_cast<void>(session->allocate(std::size_t{3} << 20)); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->status(), ExitStatus::kMissing);
  expect_text(*error, "3 MiB asked for");
  expect_text(*error, "ncclMemAlloc: unhandled cuda error: Cuda failure 2 'out of memory'");
}

TEST_F(NcclFaultsTest, AFailedInitialisationIsNamed) {
  setenv("FAKE_NCCL_FAULT", fault("init_error", last_rank(), 0).c_str(), 1);
  const auto error = error_of([&] { make_session(has(last_rank()) ? test_options() : limited()); });
  ASSERT_TRUE(error);
  if (has(last_rank())) {
    EXPECT_EQ(error->status(), ExitStatus::kFailure);
    expect_text(*error, named(last_rank()));
    expect_text(*error, "ncclCommInitRankConfig: unhandled system error: no network");
  } else {
    EXPECT_EQ(error->status(), ExitStatus::kTimeout);
    expect_text(*error, named(rank_of(0)));
  }
}

TEST_F(NcclFaultsTest, AnInitialisationThatHangsEnds) {
  setenv("FAKE_NCCL_FAULT", fault("init_hang", last_rank(), 0).c_str(), 1);
  const auto error = error_of([&] { make_session(limited()); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->status(), ExitStatus::kTimeout);
  expect_text(*error, named(rank_of(0)));
  expect_text(*error, "was not there within 0.1 s");
}

}  // namespace nccl_faults_test
}  // namespace fabricbench::nccl
