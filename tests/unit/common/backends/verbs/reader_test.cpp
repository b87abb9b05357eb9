// What reads messages in the place of a GPU, and what it has in common with the kernel.

#include "common/core/message_reader.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "common/backends/verbs/visibility.h"
#include "common/core/error.h"
#include "scripted_clock.h"

using namespace fabricbench;
using fabricbench::test::ScriptedClock;
using fabricbench::verbs::HostReader;

namespace reader_test {

constexpr Seconds kLimit = 20;

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

void wait_until(const std::function<bool()>& done) {
  while (!done()) std::this_thread::yield();
}

TEST(WordSum, AddsWholeWordsAndTheRestOfTheLast) {
  EXPECT_EQ(word_sum({}), 0U);
  EXPECT_EQ(word_sum(bytes_of({1})), 1U);
  EXPECT_EQ(word_sum(bytes_of({0, 2})), 0x200U);
  EXPECT_EQ(word_sum(bytes_of({1, 0, 0, 0, 0, 0, 0, 0, 5})), 6U);
  EXPECT_EQ(word_sum(std::vector<std::byte>(16, std::byte{0xff})), ~std::uint64_t{0} - 1);  // modulo 2^64
}

TEST(WordSum, IsMadeOfTheThreadsParts) {
  std::array<std::uint64_t, 9> words{};
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = 0x0123456789abcdef * (i + 1);
  const auto load = [&](std::uint64_t index) { return words[index]; };
  for (std::size_t bytes = 0; bytes <= sizeof words; ++bytes) {
    std::uint64_t sum = 0;
    for (std::uint64_t thread = 0; thread < 4; ++thread) sum += part_of_sum(load, bytes, thread, 4);
    EXPECT_EQ(sum, word_sum(std::as_bytes(std::span(words)).first(bytes))) << bytes;
  }
}

TEST(Twin, DiffersInEveryByte) {
  HostMemory memory;
  std::vector<std::byte> original((std::size_t{1} << 20) + 13);  // more than one piece
  for (std::size_t i = 0; i < original.size(); ++i) original[i] = static_cast<std::byte>(i * 7);
  std::vector<std::byte> complement(original.size());
  const ComplementSums sums = make_complement(memory, original, complement);
  for (std::size_t i = 0; i < original.size(); ++i) ASSERT_EQ(complement[i], ~original[i]) << i;
  EXPECT_EQ(sums.original, word_sum(original));
  EXPECT_EQ(sums.complement, word_sum(complement));
}

TEST(ReaderTask, ChecksTheFirstMessagesAndLaterSomeOfBothKinds) {
  ReaderTask task;
  task.bytes = 8;
  task.checked_before = 20;
  task.check_every = 1021;
  EXPECT_TRUE(is_checked(task, 19));
  EXPECT_FALSE(is_checked(task, 20));
  EXPECT_TRUE(is_checked(task, 1021));
  EXPECT_TRUE(is_checked(task, 2042));
  task.bytes = 0;
  EXPECT_FALSE(is_checked(task, 19));
}

TEST(ReaderTask, CountsAcrossTheEndOfNumbers) {
  EXPECT_TRUE(has_come(5, 5));
  EXPECT_TRUE(has_come(6, 5));
  EXPECT_FALSE(has_come(4, 5));
  EXPECT_FALSE(has_come(~std::uint64_t{0}, 0));
}

/// Messages that the test writes.
class Messages : public testing::Test {
 protected:
  Messages() {
    task_.flag = &flag_;
    task_.payload = payload_.data();
    task_.bytes = sizeof payload_;
    task_.sums[0] = 10;
    task_.sums[1] = 11;
    task_.checked_before = 100;
    task_.limit_ns = static_cast<std::uint64_t>(kLimit * 1e9);
  }

  void write(std::uint64_t number, std::uint64_t first_word) {
    std::atomic_ref(payload_[0]).store(first_word, std::memory_order_relaxed);
    std::atomic_ref(flag_).store(number, std::memory_order_release);
    wait_until([&] { return reader_.seen() == number; });
  }

  ScriptedClock clock_;  // stands still, however long the reader's thread waits for a processor
  std::uint64_t flag_ = 0;
  std::array<std::uint64_t, 4> payload_{};
  ReaderTask task_;
  HostReader reader_;
};

TEST_F(Messages, AreSeenAndLookedAt) {
  reader_.begin(task_);
  EXPECT_EQ(reader_.seen(), 0U);
  write(1, 11);
  write(2, 10);
  write(3, 11);
  EXPECT_FALSE(reader_.has_stopped());
  const ReaderFindings found = reader_.end();
  EXPECT_EQ(found.checked, 3U);
  EXPECT_EQ(found.wrong, 0U);
  EXPECT_FALSE(found.gave_up);
  EXPECT_FALSE(reader_.reads());
}

TEST_F(Messages, OfWrongDataAreFound) {
  reader_.begin(task_);
  write(1, 11);
  write(2, 11);  // that of the message before
  write(3, 12);
  const ReaderFindings found = reader_.end();
  EXPECT_EQ(found.wrong, 2U);
  EXPECT_EQ(found.first_wrong, 2U);
  EXPECT_EQ(found.expected, 10U);
  EXPECT_EQ(found.got, 11U);
}

TEST_F(Messages, SeenLongAgoAreNone) {
  flag_ = 41;
  task_.first = 42;
  task_.checked_before = 0;
  reader_.begin(task_);
  EXPECT_EQ(reader_.seen(), 41U);
  write(42, 10);
  EXPECT_EQ(reader_.end().checked, 0U);
}

TEST_F(Messages, ThatDoNotComeEndTheReader) {
  std::atomic<int> readings = 0;
  clock_.when_reading([&](int number) { readings = number; });
  reader_.begin(task_);
  wait_until([&] { return readings > 1; });  // it has begun to wait, and looks at the clock
  EXPECT_FALSE(reader_.has_stopped());
  clock_.advance(kLimit + 1);
  wait_until([&] { return reader_.has_stopped(); });
  EXPECT_TRUE(reader_.end().gave_up);
}

TEST_F(Messages, MayBeAbandoned) {
  clock_.when_sleeping([&](Seconds) { wait_until([&] { return reader_.has_stopped(); }); });
  reader_.begin(task_);
  reader_.abandon();
  EXPECT_TRUE(reader_.has_stopped());
  EXPECT_FALSE(reader_.end().gave_up);
  EXPECT_LE(clock_.slept(), 0.001) << "it waits no longer than the reader takes";
}

/// Reads on this thread: the clock moves on by 1 s with each look, of which the first begins the wait.
class ReadOnHost : public testing::Test {
 protected:
  ReadOnHost() {
    task_.flag = &flag_;
    task_.limit_ns = 5;
  }

  void read() {
    read_on_host(
        task_, words_, [this] { return time_ns_++; }, [this] { pause_(); });
  }

  std::uint64_t flag_ = 0;
  std::uint64_t time_ns_ = 1000;
  ReaderTask task_;
  ReaderWords words_{};
  std::function<void()> pause_ = [] {};
};

TEST_F(ReadOnHost, GivesUpWhenMoreThanTheLimitHasPassed) {
  int pauses = 0;
  pause_ = [&] { ++pauses; };
  read();
  EXPECT_TRUE(words_.findings.gave_up);
  EXPECT_EQ(words_.ended, 1U);
  EXPECT_EQ(pauses, 5);
}

TEST_F(ReadOnHost, HasPatienceAnewWithEveryMessage) {
  int pauses = 0;
  pause_ = [&] {
    if (++pauses % 4 == 0 && flag_ < 3) ++flag_;
  };
  read();
  EXPECT_TRUE(words_.findings.gave_up);
  EXPECT_EQ(words_.seen, 3U);
  EXPECT_EQ(pauses, 3 * 4 + 5);
}

TEST_F(ReadOnHost, EndsWhenItIsToldTo) {
  pause_ = [&] { words_.abort = 1; };
  read();
  EXPECT_FALSE(words_.findings.gave_up);
  EXPECT_EQ(words_.ended, 1U);
}

TEST_F(Messages, MayBeginAnew) {
  reader_.begin(task_);
  write(1, 11);
  task_.first = 2;
  reader_.begin(task_);
  write(2, 10);
  EXPECT_EQ(reader_.end().checked, 1U);
}

TEST(HostReader, EndsWithItsObject) {
  std::uint64_t flag = 0;
  ReaderTask task;
  task.flag = &flag;
  task.limit_ns = static_cast<std::uint64_t>(kLimit * 1e9);
  HostReader reader;
  reader.begin(task);
}

TEST(HostReader, AnswersTheProcessor) {
  const ScriptedClock clock;
  HostReader reader;
  EXPECT_EQ(reader.round_trip(100, kLimit), 0) << "the clock stands still";
  EXPECT_FALSE(reader.reads());
}

/// A reader that nothing reads for.
class Absent final : public MessageReader {
 public:
  [[nodiscard]] std::string description() const override { return "nobody"; }

 private:
  [[nodiscard]] ReaderWords& words() const override { return words_; }
  [[nodiscard]] std::uint64_t* asked() const override { return &words_.asked; }
  void launch(const ReaderTask&) override {}
  void join() override {}

  mutable ReaderWords words_;
};

TEST(MessageReader, ThatDoesNotAnswerIsGivenUp) {
  const ScriptedClock clock(1000, 1);
  Absent reader;
  try {
    (void)reader.round_trip(1, 5);
    FAIL() << "nobody answered";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kTimeout);
    EXPECT_STREQ(error.what(), "nobody has not answered the processor for 5 s");
  }
  EXPECT_EQ(clock.readings(), 7);  // 1 to begin with, those 1 to 5 s later, and the one behind the limit
}

TEST(MessageReader, ThatDoesNotEndIsWaitedForAMoment) {
  const ScriptedClock clock;
  Absent reader;
  reader.abandon();
  EXPECT_EQ(clock.slept(), 0) << "it does not read";
  reader.begin({});
  reader.abandon();
  EXPECT_NEAR(clock.slept(), 1, 1e-9);
}

/// Answers at once, and lets the clock show how long that took.
class Echo final : public MessageReader {
 public:
  explicit Echo(ScriptedClock& clock) : clock_(clock) {}
  [[nodiscard]] std::string description() const override { return "an echo"; }
  std::function<Seconds(std::uint64_t)> takes;  ///< by number of the message

 private:
  [[nodiscard]] ReaderWords& words() const override {
    if (words_.asked != words_.seen && words_.asked != 0) {
      words_.seen = words_.asked;
      clock_.advance(takes(words_.seen));
    }
    return words_;
  }
  [[nodiscard]] std::uint64_t* asked() const override { return &words_.asked; }
  void launch(const ReaderTask&) override {}
  void join() override {}

  ScriptedClock& clock_;
  mutable ReaderWords words_{};
};

TEST(MessageReader, RoundTripIsTheMedianOfThoseAfterTheFirstSixteen) {
  ScriptedClock clock;
  Echo reader(clock);
  const std::vector<Seconds> timed = {9, 1, 5, 3, 7};
  reader.takes = [&](std::uint64_t number) { return number <= 16 ? 10 : timed.at(number - 17); };
  EXPECT_EQ(reader.round_trip(5, 10), 5);
}

}  // namespace reader_test
