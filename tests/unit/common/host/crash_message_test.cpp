#include "common/host/crash_message.h"

#include <gtest/gtest.h>

#include <exception>
#include <new>
#include <thread>

#include "common/core/error.h"

using namespace fabricbench;

namespace crash_message_test {

void throw_in_a_thread(void (*thrower)()) {
  set_crash_message("all_reduce_perf: rank 3 on node-07");
  std::thread(thrower).join();
}

TEST(LastWordsDeathTest, AreTheMessageAndTheStatusOfWhatNobodyCatches) {
  EXPECT_EXIT(throw_in_a_thread([] { throw Error(ExitStatus::kWrongData, "lost"); }), testing::ExitedWithCode(5),
              "^all_reduce_perf: rank 3 on node-07: lost\n$");
  EXPECT_EXIT(throw_in_a_thread([] { throw std::bad_alloc(); }), testing::ExitedWithCode(3),
              "^all_reduce_perf: rank 3 on node-07: out of memory: ");
  EXPECT_EXIT(throw_in_a_thread([] { throw 5; }), testing::ExitedWithCode(1), "an exception of no known kind\n$");
  EXPECT_EXIT(throw_in_a_thread([] { std::terminate(); }), testing::ExitedWithCode(1), "ended by std::terminate\n$");
}

}  // namespace crash_message_test
