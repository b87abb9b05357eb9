// --check all over the fake libibverbs: whole streams of which one message is wrong in one bit, and what the check of
// the last messages alone sees of it.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/backends/rdma/rdma_test.h"
#include "common/measure/operation.h"
#include "common/measure/workspace.h"
#include "session_pair.h"

namespace fabricbench::verbs {
namespace every_message_test {

using test::fake_verbs_queues;
using test::SessionPair;

constexpr Bytes kSize = 48;  // no divisor of a page
constexpr std::int64_t kWindow = 100;
constexpr std::int64_t kWindowsPerVisit = 5;
constexpr std::int64_t kVisits = 20;
constexpr std::int64_t kInAll = kWindow * kWindowsPerVisit * kVisits;

/// What the visits of a stream to one size found.
struct Found {
  std::vector<WrongData> wrong;
  std::uint64_t checked = 0;
};

class EveryMessage : public test::SessionPairTest {
 protected:
  EveryMessage() { settings_.latency = false; }

  /// A stream as the harness measures it. `apart`: with --check all.
  Found stream(bool apart) {
    SessionPair pair(settings_);
    EXPECT_EQ(pair.on_both([](VerbsSession& session, std::size_t) { session.finish_opening(); }), "");
    break_what_should_break();
    Options options;
    options.rdma = settings_.options;
    RequestStream test("stream", settings_.verb);
    test.configure(options);
    const Bytes pool = kWindow * kWindowsPerVisit * kSize;
    std::array<std::unique_ptr<Workspace>, 2> workspaces;
    EXPECT_EQ(pair.on_both([&](VerbsSession& session, std::size_t rank) {
      workspaces.at(rank) = std::make_unique<Workspace>(session, pool, true, 0, Ranks{static_cast<int>(rank), 1, 2});
      workspaces.at(rank)->use(DataType::kInt8, Reduction::kNone);
    }),
              "");
    const Case which{kSize, test.layout({kSize, 1}, 2), DataType::kInt8, Reduction::kNone, -1, false};
    std::vector<Operation> operations;
    for (std::size_t rank = 0; rank < 2; ++rank) {
      operations.emplace_back(test, pair.rank(rank), *workspaces.at(rank), which, BufferPolicy::kSame, kWindow, apart);
    }
    Found found;
    for (std::int64_t visit = 0; visit < kVisits; ++visit) run(pair, operations, found);
    EXPECT_EQ(pair.on_both([&](VerbsSession&, std::size_t rank) { workspaces.at(rank).reset(); }), "");
    return found;
  }

  /// The wrong messages of the first queue pair of the first rank, by number.
  std::vector<std::uint64_t> corrupted_;
  std::optional<std::uint64_t> lost_;  // one of these

 private:
  void break_what_should_break() {
    test::FakeQueuePair& first = fake_verbs_queues().queue_pairs.front();
    first.is_lost = [this](std::uint64_t number) { return number == lost_; };
    first.is_corrupted = [this](std::uint64_t number) {
      return std::find(corrupted_.begin(), corrupted_.end(), number) != corrupted_.end();
    };
  }

  static void run(SessionPair& pair, std::vector<Operation>& operations, Found& found) {
    const std::int64_t starts = kWindow * kWindowsPerVisit;
    EXPECT_EQ(pair.on_both([&](VerbsSession&, std::size_t rank) { operations.at(rank).prepare(starts); }), "");
    for (std::int64_t window = 0; window < kWindowsPerVisit; ++window) {
      for (Operation& operation : operations) operation.start_iteration();
    }
    std::array<std::optional<WrongData>, 2> wrong;
    EXPECT_EQ(
        pair.on_both([&](VerbsSession&, std::size_t rank) { wrong.at(rank) = operations.at(rank).check(starts); }), "");
    for (const auto& of_rank : wrong) {
      if (of_rank) found.wrong.push_back(*of_rank);
    }
    for (Operation& operation : operations) found.checked += operation.take_checked();
  }
};

TEST_F(EveryMessage, IsRightWhereNothingIsWrong) {
  for (const Verb verb : {Verb::kWrite, Verb::kRead, Verb::kSend}) {
    for (const std::int64_t queue_pairs : {1, 3}) {
      fake_verbs_queues() = {};
      settings_.verb = verb;
      settings_.options.queue_pairs = queue_pairs;
      const Found found = stream(true);
      EXPECT_TRUE(found.wrong.empty()) << name(verb) << " over " << queue_pairs << ": " << found.wrong.front().message;
      EXPECT_EQ(found.checked, kInAll) << name(verb);
    }
  }
}

TEST_F(EveryMessage, FindsOneWrongBitAmongThousandsOfMessages) {
  constexpr std::uint64_t kCorrupted = 4321;
  corrupted_ = {kCorrupted};
  for (const Verb verb : {Verb::kWrite, Verb::kRead, Verb::kSend}) {
    fake_verbs_queues() = {};
    settings_.verb = verb;
    const Found found = stream(true);
    ASSERT_EQ(found.wrong.size(), 1U) << name(verb);
    const WrongData& wrong = found.wrong.front();
    EXPECT_EQ(wrong.rank, verb == Verb::kRead ? 0 : 1);
    EXPECT_EQ(wrong.messages, 1U);
    EXPECT_EQ(wrong.elements, 1U);
    EXPECT_EQ(wrong.message, "message 21 of window 43");
    EXPECT_EQ(wrong.first.first_offset, kSize - 1);
    EXPECT_EQ(std::stoi(wrong.first.expected) ^ 1, std::stoi(wrong.first.got));
    EXPECT_EQ(found.checked, kInAll);
  }
}

TEST_F(EveryMessage, IsNotLookedAtWithoutCheckAll) {
  corrupted_ = {4321};
  for (const Verb verb : {Verb::kWrite, Verb::kRead, Verb::kSend}) {
    fake_verbs_queues() = {};
    settings_.verb = verb;
    EXPECT_TRUE(stream(false).wrong.empty()) << name(verb);
  }
}

TEST_F(EveryMessage, IsCountedWhereSeveralAreWrong) {
  corrupted_ = {600, 604, 999, 1000};
  const Found found = stream(true);
  ASSERT_EQ(found.wrong.size(), 2U);
  EXPECT_EQ(found.wrong[0].messages, 3U);
  EXPECT_EQ(found.wrong[0].message, "message 0 of window 6");
  EXPECT_EQ(found.wrong[1].messages, 1U);
  EXPECT_EQ(found.wrong[1].message, "message 0 of window 10");
}

TEST_F(EveryMessage, IsMissedWhereItDoesNotArrive) {
  for (const std::int64_t lost : {0, 7777}) {
    fake_verbs_queues() = {};
    SCOPED_TRACE(lost);
    lost_ = static_cast<std::uint64_t>(lost);
    const Found found = stream(true);
    ASSERT_EQ(found.wrong.size(), 1U);
    EXPECT_EQ(found.wrong.front().messages, 1U);
    EXPECT_EQ(found.wrong.front().elements, kSize) << "the poison is nobody's data";
  }
}

}  // namespace every_message_test
}  // namespace fabricbench::verbs
