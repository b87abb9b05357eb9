// Runs GoogleTest on every rank of a job. A test that fails on one rank fails on all; rank 0 reports, and the
// others print their failures only. An exception ends the job, since the other ranks would wait for ever.

#include <gtest/gtest.h>

#include <cstdio>
#include <exception>
#include <string>

#include <fmt/format.h>

#include "common/mpi/communicator.h"
#include "common/mpi/environment.h"

namespace fabricbench {
namespace {

/// What ranks other than 0 print: failures, marked with the rank.
class FailurePrinter final : public testing::EmptyTestEventListener {
 public:
  explicit FailurePrinter(int rank) : rank_(rank) {}

 private:
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    const char* file = result.file_name() != nullptr ? result.file_name() : "unknown file";
    fmt::print(stderr, "rank {}: {}:{}: {}\n", rank_, file, result.line_number(), result.message());
    std::fflush(stderr);
  }

  int rank_;
};

/// After each test, fails on every rank what failed on one.
class Agreement final : public testing::EmptyTestEventListener {
 public:
  explicit Agreement(const mpi::Communicator& world) : world_(world) {}

 private:
  void OnTestEnd(const testing::TestInfo& test) override {
    const bool failed = test.result()->Failed();
    std::string ranks;
    const auto failures = world_.all_gather(failed ? 1 : 0);
    for (std::size_t rank = 0; rank < failures.size(); ++rank) {
      if (failures[rank] != 0) ranks += fmt::format(" {}", rank);
    }
    if (!ranks.empty() && !failed && world_.is_root()) ADD_FAILURE() << "failed on ranks" << ranks;
  }

  const mpi::Communicator& world_;
};

void install_listeners(const mpi::Communicator& world) {
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  if (!world.is_root()) {
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailurePrinter(world.rank()));
  }
  listeners.Append(new Agreement(world));  // the last one: the ends of tests go through the list backwards
}

/// 0 where tests ran and none failed on any rank; the same on every rank.
int run_tests(int argc, char** argv) {
  const mpi::Communicator world = mpi::Communicator::world();
  mpi::check_launcher(mpi::launch_from_environment(), world.size());
  testing::InitGoogleTest(&argc, argv);
  testing::GTEST_FLAG(catch_exceptions) = false;
  install_listeners(world);
  const bool failed = RUN_ALL_TESTS() != 0;
  const testing::UnitTest& tests = *testing::UnitTest::GetInstance();
  const bool none_ran = tests.successful_test_count() + tests.failed_test_count() == 0;
  if (none_ran && world.is_root()) fmt::print(stderr, "no test ran\n");
  return static_cast<int>(world.max(std::int64_t{failed || none_ran}));
}

}  // namespace

}  // namespace fabricbench

int main(int argc, char** argv) {
  try {
    const fabricbench::mpi::Environment environment(argc, argv);
    try {
      return fabricbench::run_tests(argc, argv);
    } catch (const std::exception& error) {
      fmt::print(stderr, "an exception left a test: {}\n", error.what());
      fabricbench::mpi::abort(fabricbench::ExitStatus::kFailure);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "MPI did not start: {}\n", error.what());
    return 1;
  }
}
