// The time limit of an agreement with another process.

#include "common/backends/rdma/connect_work.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "scripted_clock.h"

using namespace fabricbench;
using fabricbench::test::ScriptedClock;

namespace agreement_watch_test {

class AgreementLimits : public testing::Test {
 protected:
  ScriptedClock clock_;
  AgreementLimit limit_;
};

TEST_F(AgreementLimits, PassWhenTheirTimeHas) {
  limit_.arm(5, "rank 1 does not answer");
  clock_.advance(4.999);
  EXPECT_EQ(limit_.take_passed(), std::nullopt);
  clock_.advance(0.001);
  EXPECT_EQ(limit_.take_passed(), "rank 1 does not answer");
}

TEST_F(AgreementLimits, PassOnce) {
  limit_.arm(5, "once");
  clock_.advance(6);
  EXPECT_EQ(limit_.take_passed(), "once");
  clock_.advance(6);
  EXPECT_EQ(limit_.take_passed(), std::nullopt);
  limit_.arm(5, "again");
  clock_.advance(6);
  EXPECT_EQ(limit_.take_passed(), "again");
}

TEST_F(AgreementLimits, AreNoneBeforeTheFirstAndAfterTheyWereDisarmed) {
  EXPECT_EQ(limit_.take_passed(), std::nullopt);
  limit_.arm(5, "disarmed");
  limit_.disarm();
  clock_.advance(100);
  EXPECT_EQ(limit_.take_passed(), std::nullopt);
}

TEST_F(AgreementLimits, GoByTheLatest) {
  limit_.arm(5, "first");
  clock_.advance(4);
  limit_.arm(5, "second");
  clock_.advance(4);
  EXPECT_EQ(limit_.take_passed(), std::nullopt);
  limit_.arm(1, "third");
  clock_.advance(1);
  EXPECT_EQ(limit_.take_passed(), "third");
}

/// What a watch has ended with, in its own thread.
class Ends {
 public:
  void add(const std::string& text) {
    const std::lock_guard lock(mutex_);
    texts_.push_back(text);
    added_.notify_one();
  }

  /// Waits until there are so many, however long its thread takes.
  [[nodiscard]] std::vector<std::string> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    added_.wait(lock, [&] { return texts_.size() >= count; });
    return texts_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable added_;
  std::vector<std::string> texts_;
};

using Texts = std::vector<std::string>;

TEST(AgreementWatch, EndsFromItsThreadOnceForEachLimitThatHasPassed) {
  ScriptedClock clock;
  Ends ends;
  AgreementWatch watch([&ends](const std::string& text) { ends.add(text); });
  watch.arm(5, "rank 1 does not answer");
  watch.disarm();
  const int readings = clock.readings();
  clock.advance(6);
  while (clock.readings() < readings + 2) std::this_thread::yield();  // its thread has looked after that
  watch.arm(5, "rank 2 does not answer");
  clock.advance(5);
  EXPECT_EQ(ends.wait_for(1), (Texts{"rank 2 does not answer"}));
  watch.arm(5, "rank 3 does not answer");
  clock.advance(5);
  EXPECT_EQ(ends.wait_for(2), (Texts{"rank 2 does not answer", "rank 3 does not answer"}));
}

TEST(AgreementWatch, IsGoneAtOnceWhileItIsArmed) {
  const ScriptedClock clock;
  AgreementWatch watch([](const std::string&) { ADD_FAILURE() << "the limit is never reached"; });
  watch.arm(1, "never");
}

}  // namespace agreement_watch_test
