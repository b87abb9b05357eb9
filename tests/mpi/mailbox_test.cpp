// Mail between ranks: in order, by subject, and never waiting beyond a time limit.

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "common/core/clock.h"
#include "common/mpi/communicator.h"
#include "common/mpi/mailbox.h"

namespace fabricbench::mpi {
namespace {

constexpr Seconds kLong = 20;

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

  Communicator world_ = Communicator::world();
  Mailbox mailbox_{world_};
};

TEST_F(MailboxTest, InOrder) {
  for (int i = 0; i < 100; ++i) mailbox_.post(next(), 1, bytes_of(i));
  for (int i = 0; i < 100; ++i) {
    const auto mail = mailbox_.wait(previous(), 1, now() + kLong);
    ASSERT_TRUE(mail);
    EXPECT_EQ(mail->from, previous());
    EXPECT_EQ(value_of(*mail), i);
  }
}

TEST_F(MailboxTest, BySubject) {
  mailbox_.post(next(), 1, bytes_of(10));
  mailbox_.post(next(), 2, bytes_of(20));
  const auto second = mailbox_.wait(previous(), 2, now() + kLong);
  const auto first = mailbox_.wait(previous(), 1, now() + kLong);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(value_of(*first), 10);
  EXPECT_EQ(value_of(*second), 20);
}

TEST_F(MailboxTest, LongMessages) {
  constexpr std::size_t kMany = std::size_t{1} << 20;
  mailbox_.post(next(), 1, bytes_of(7, kMany));
  const auto mail = mailbox_.wait(previous(), 1, now() + kLong);
  ASSERT_TRUE(mail);
  EXPECT_EQ(mail->bytes.size(), kMany);
  EXPECT_EQ(value_of(*mail), 7);
  world_.barrier();  // what is long has been taken by then
}

TEST_F(MailboxTest, FromAnybody) {
  mailbox_.post(0, 3, bytes_of(world_.rank()));
  std::vector<int> seen;
  while (world_.is_root() && seen.size() < static_cast<std::size_t>(world_.size())) {
    const auto mail = mailbox_.wait(Mailbox::kAnybody, 3, now() + kLong);
    ASSERT_TRUE(mail);
    EXPECT_EQ(value_of(*mail), mail->from);
    seen.push_back(mail->from);
  }
}

TEST_F(MailboxTest, GivesUpInTime) {
  const Seconds began = now();
  EXPECT_FALSE(mailbox_.wait(previous(), 9, began + 0.05));
  EXPECT_GE(now() - began, 0.05);
  EXPECT_FALSE(mailbox_.look(previous(), 9));
}

/// What nobody has taken must not keep anyone from ending.
TEST_F(MailboxTest, MailThatIsNeverRead) {
  const Communicator other = *world_.split(0);
  Mailbox unread(other);
  unread.post(next(), 1, bytes_of(1));
}

}  // namespace
}  // namespace fabricbench::mpi
