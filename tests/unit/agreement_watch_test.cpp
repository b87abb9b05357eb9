// The time limit of an agreement with another process.

#include "common/rdma/agreement_watch.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

using namespace fabricbench;

namespace agreement_watch_test {

/// What a watch has ended with, in its own thread.
class Ends {
 public:
  void add(const std::string& text) {
    const std::lock_guard lock(mutex_);
    texts_.push_back(text);
    added_.notify_one();
  }

  /// Waits for the first one, for so long at most.
  [[nodiscard]] std::vector<std::string> after(Seconds limit) {
    std::unique_lock lock(mutex_);
    added_.wait_for(lock, std::chrono::duration<double>(limit), [this] { return !texts_.empty(); });
    return texts_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable added_;
  std::vector<std::string> texts_;
};

using Texts = std::vector<std::string>;
constexpr Seconds kShort = 0.02;
constexpr Seconds kLongEnough = 20;  // for a machine that is busy

class Watched : public testing::Test {
 protected:
  Ends ends_;
  AgreementWatch watch_{[this](const std::string& text) { ends_.add(text); }};

  static void pass_time() { std::this_thread::sleep_for(std::chrono::milliseconds(250)); }
};

TEST_F(Watched, EndsWithWhatItWasGivenWhenTheLimitHasPassed) {
  watch_.arm(kShort, "rank 1 does not answer");
  EXPECT_EQ(ends_.after(kLongEnough), (Texts{"rank 1 does not answer"}));
}

TEST_F(Watched, EndsOnceForALimit) {
  watch_.arm(kShort, "once");
  (void)ends_.after(kLongEnough);
  pass_time();
  EXPECT_EQ(ends_.after(0), (Texts{"once"}));
}

TEST_F(Watched, LetsAnAgreementInTimeBe) {
  watch_.arm(1e6, "far away");
  watch_.disarm();
  watch_.arm(1e6, "far away too");
  pass_time();
  EXPECT_EQ(ends_.after(0), Texts{});
}

TEST_F(Watched, ForgetsALimitThatWasDisarmed) {
  watch_.arm(0.15, "disarmed");
  watch_.disarm();
  pass_time();
  EXPECT_EQ(ends_.after(0), Texts{});
}

TEST_F(Watched, GoesByTheLatestLimit) {
  watch_.arm(1e6, "first");
  watch_.arm(kShort, "second");
  EXPECT_EQ(ends_.after(kLongEnough), (Texts{"second"}));
}

TEST(AgreementWatchAlone, IsGoneAtOnceWhileItIsArmed) {
  const auto began = std::chrono::steady_clock::now();
  {
    AgreementWatch watch([](const std::string&) { ADD_FAILURE() << "the limit is far away"; });
    watch.arm(1e6, "far away");
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10));
}

}  // namespace agreement_watch_test
