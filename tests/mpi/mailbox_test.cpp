// Mail between ranks: in order, by subject, and never waiting beyond a time limit.

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "../support/scripted_clock.h"
#include "common/core/clock.h"
#include "common/mpi/communicator.h"
#include "common/mpi/mailbox.h"

namespace fabricbench::mpi {
namespace {

std::vector<std::byte> bytes_of(int value, std::size_t length = sizeof(int)) {
  std::vector<std::byte> bytes(length);
  std::memcpy(bytes.data(), &value, sizeof(value));
  return bytes;
}

int value_of(const Mailbox::Message& message) {
  int value = 0;
  std::memcpy(&value, message.bytes.data(), sizeof(value));
  return value;
}

class MailboxTest : public testing::Test {
 protected:
  ~MailboxTest() override { world_.barrier(); }

  [[nodiscard]] int next() const { return (world_.rank() + 1) % world_.size(); }
  [[nodiscard]] int previous() const { return (world_.rank() + world_.size() - 1) % world_.size(); }

  test::ScriptedClock clock_;  // stands still, so that nobody gives up before the mail is there
  Seconds deadline_ = now() + 1;
  Communicator world_ = Communicator::world();
  Mailbox mailbox_{world_};
};

TEST_F(MailboxTest, InOrder) {
  for (int i = 0; i < 100; ++i) mailbox_.post(next(), 1, bytes_of(i));
  for (int i = 0; i < 100; ++i) {
    const auto mail = mailbox_.wait(previous(), 1, deadline_);
    ASSERT_TRUE(mail);
    EXPECT_EQ(mail->from, previous());
    EXPECT_EQ(value_of(*mail), i);
  }
}

TEST_F(MailboxTest, BySubject) {
  mailbox_.post(next(), 1, bytes_of(10));
  mailbox_.post(next(), 2, bytes_of(20));
  const auto second = mailbox_.wait(previous(), 2, deadline_);
  const auto first = mailbox_.wait(previous(), 1, deadline_);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(value_of(*first), 10);
  EXPECT_EQ(value_of(*second), 20);
}

TEST_F(MailboxTest, LongMessages) {
  constexpr std::size_t kMany = std::size_t{1} << 20;
  mailbox_.post(next(), 1, bytes_of(7, kMany));
  const auto mail = mailbox_.wait(previous(), 1, deadline_);
  ASSERT_TRUE(mail);
  EXPECT_EQ(mail->bytes.size(), kMany);
  EXPECT_EQ(value_of(*mail), 7);
  world_.barrier();  // what is long has been taken by then
}

TEST_F(MailboxTest, FromAnybody) {
  mailbox_.post(0, 3, bytes_of(world_.rank()));
  std::vector<int> seen;
  while (world_.is_root() && seen.size() < static_cast<std::size_t>(world_.size())) {
    const auto mail = mailbox_.wait(Mailbox::kAnybody, 3, deadline_);
    ASSERT_TRUE(mail);
    EXPECT_EQ(value_of(*mail), mail->from);
    seen.push_back(mail->from);
  }
}

class MailboxPatience : public testing::Test {
 protected:
  static constexpr Seconds kReading = 0.3e-3;
  static constexpr Seconds kPause = 0.1e-3;
  static constexpr Seconds kRounding = 1e-9;

  test::ScriptedClock clock_{1000, kReading};
  Communicator world_ = Communicator::world();
  Mailbox mailbox_{world_};
};

TEST_F(MailboxPatience, EndsAtTheDeadline) {
  const Seconds deadline = clock_.shows() + 0.05;
  EXPECT_FALSE(mailbox_.wait(world_.rank(), 9, deadline));
  EXPECT_GT(clock_.shows(), deadline);
  EXPECT_LE(clock_.shows(), deadline + 2 * kReading + kPause + kRounding) << "one look later, at most";
  EXPECT_FALSE(mailbox_.look(world_.rank(), 9));
}

TEST_F(MailboxPatience, LastsUntilTheMailIsThere) {
  int pauses = 0;
  clock_.when_sleeping([&](Seconds) {
    if (++pauses == 3) mailbox_.post(world_.rank(), 4, bytes_of(5));
  });
  const auto mail = mailbox_.wait(world_.rank(), 4, clock_.shows() + 1e9);
  ASSERT_TRUE(mail);
  EXPECT_EQ(value_of(*mail), 5);
}

TEST_F(MailboxPatience, TakesNoPauseInTheFirstMillisecond) {
  Backoff patience;
  for (int rest = 0; rest < 3; ++rest) patience.rest();  // the third one 0.9 ms after the first
  EXPECT_EQ(clock_.slept(), 0);
  patience.rest();
  EXPECT_NEAR(clock_.slept(), kPause, kRounding);
  patience.rest();
  EXPECT_NEAR(clock_.slept(), 2 * kPause, kRounding);
}

/// What nobody has taken does not keep anyone from ending, and is whole where somebody takes it then.
TEST_F(MailboxTest, MailOfAMailboxThatIsGone) {
  constexpr std::size_t kMany = std::size_t{1} << 20;  // too long for MPI to keep
  const Communicator other = *world_.split(0);
  {
    Mailbox gone(other);
    gone.post(next(), 1, bytes_of(8, kMany));
  }
  other.barrier();
  Mailbox reader(other);
  const auto mail = reader.wait(previous(), 1, deadline_);
  ASSERT_TRUE(mail);
  EXPECT_EQ(mail->bytes, bytes_of(8, kMany));
  other.barrier();  // Open MPI would take what it still had to send for traffic of the next communicator
}

}  // namespace
}  // namespace fabricbench::mpi
