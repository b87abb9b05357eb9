// In what order messages between two ranks are started where one thread drives one of the two, or both.

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "common/measure/message_test.h"
#include "common/measure/operation.h"
#include "fake_session.h"

using namespace fabricbench;

namespace pair_operation_test {

using Calls = std::vector<std::string>;

constexpr std::size_t kCount = 8;

/// Writes down what is asked of a rank: `0 sends 8`.
class Recorder final : public test::IdleBackend {
 public:
  Recorder(int rank, Calls& calls) : rank_(rank), calls_(calls) {}
  void send(const void*, std::size_t count, DataType, int to) override {
    add(fmt::format("sends {} to {}", count, to));
  }
  void recv(void*, std::size_t count, DataType, int from) override { add(fmt::format("gets {} of {}", count, from)); }
  void start_send(const void*, std::size_t, DataType, int) override { add("starts to send"); }
  void start_recv(void*, std::size_t, DataType, int) override { add("starts to get"); }
  void finish() override { add("finishes"); }
  void barrier() override { add("meets the other"); }

 private:
  void add(const std::string& what) { calls_.push_back(fmt::format("{} {}", rank_, what)); }

  int rank_;
  Calls& calls_;
};

/// Writes down where groups begin and end too.
class RecordingSession final : public test::HostSession {
 public:
  RecordingSession(const std::vector<Backend*>& backends, Calls& calls) : HostSession(backends), calls_(calls) {}
  void begin_group() override { calls_.emplace_back("("); }
  void end_group() override { calls_.emplace_back(")"); }

 private:
  Calls& calls_;
};

/// What starting one iteration comes to for a process that has `local` ranks of the pair from `first` on.
Calls calls_of(const Test& test, int first, int local, std::int64_t window) {
  Calls calls;
  Recorder backend_of_first(first, calls);
  Recorder backend_of_second(first + 1, calls);
  std::vector<Backend*> backends{&backend_of_first, &backend_of_second};
  backends.resize(static_cast<std::size_t>(local));
  RecordingSession session(backends, calls);
  Workspace workspace(session, kCount, true, 0, {.first = first, .local = local, .all = 2});
  workspace.use(DataType::kInt8, Reduction::kNone);
  const Case which{kCount, test.layout({kCount, 1}, 2), DataType::kInt8, Reduction::kNone, -1, false};
  Operation operation(test, session, workspace, which, BufferPolicy::kSame, window);
  operation.prepare(window);
  operation.start_iteration();
  return calls;
}

/// Where the first of the calls stands, and where the last.
std::ptrdiff_t first_of(const Calls& calls, const std::string& call) {
  return std::find(calls.begin(), calls.end(), call) - calls.begin();
}
std::ptrdiff_t last_of(const Calls& calls, const std::string& call) {
  return calls.rend() - std::find(calls.rbegin(), calls.rend(), call) - 1;
}

TEST(RoundTrip, OfARankAloneIsAMessageThereAndOneBack) {
  const PingPong round_trips("round_trips");
  EXPECT_EQ(calls_of(round_trips, 0, 1, 1), (Calls{"0 sends 8 to 1", "0 gets 8 of 1"}));
  EXPECT_EQ(calls_of(round_trips, 1, 1, 1), (Calls{"1 gets 8 of 0", "1 sends 8 to 0"}));
}

TEST(RoundTrip, OfBothRanksIsTwoGroupsOneAfterTheOther) {
  EXPECT_EQ(calls_of(PingPong("round_trips"), 0, 2, 1),
            (Calls{"(", "0 sends 8 to 1", "1 gets 8 of 0", ")", "(", "0 gets 8 of 1", "1 sends 8 to 0", ")"}));
}

TEST(Window, OfARankAloneIsFinishedAndThenAnswered) {
  const OneWay windows("windows");
  EXPECT_EQ(calls_of(windows, 0, 1, 2),
            (Calls{"(", "0 starts to send", "0 starts to send", ")", "0 finishes", "(", "0 gets 1 of 1", ")"}));
  EXPECT_EQ(calls_of(windows, 1, 1, 2),
            (Calls{"(", "1 starts to get", "1 starts to get", ")", "1 finishes", "(", "1 sends 1 to 0", ")"}));
}

TEST(Window, OfBothRanksIsFinishedOnBothBeforeItIsAnsweredInOneGroup) {
  for (const std::int64_t window : {1, 3}) {
    const Calls calls = calls_of(OneWay("windows"), 0, 2, window);
    ASSERT_GE(calls.size(), 6U);
    EXPECT_EQ(Calls(calls.end() - 6, calls.end()),
              (Calls{"0 finishes", "1 finishes", "(", "0 gets 1 of 1", "1 sends 1 to 0", ")"}));
    EXPECT_EQ(std::count(calls.begin(), calls.end(), "0 starts to send"), window);
    EXPECT_EQ(std::count(calls.begin(), calls.end(), "1 starts to get"), window);
    EXPECT_LT(last_of(calls, "1 starts to get"), first_of(calls, "0 finishes"));
  }
}

TEST(TwoWayWindow, OfBothRanksIsFinishedOnBothBeforeTheyMeet) {
  const Calls calls = calls_of(BothWays("two_way_windows"), 0, 2, 2);
  ASSERT_GE(calls.size(), 6U);
  EXPECT_EQ(Calls(calls.end() - 6, calls.end()),
            (Calls{"0 finishes", "1 finishes", "(", "0 meets the other", "1 meets the other", ")"}));
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "0 starts to send"), 2);
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "1 starts to send"), 2);
}

}  // namespace pair_operation_test
