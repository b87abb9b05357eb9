// Messages between two ranks, carried by MPI: back and forth, and many at once, in one direction and in both.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend_support.h"
#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/mpi/mpi_backend.h"

namespace fabricbench::mpi {
namespace {

constexpr std::size_t kCounts[] = {1, 0, 7, 8, 1000, 15, 0, 37};
constexpr std::size_t kMessages = 64;

/// The messages of a window, one behind the other in a buffer.
class Messages {
 public:
  Messages(std::size_t messages, const std::function<std::size_t(std::size_t)>& count_of) {
    for (std::size_t i = 0; i < messages; ++i) {
      all_.push_back({elements_, count_of(i)});
      elements_ += all_.back().count + kGap;
    }
  }

  struct Message {
    std::size_t first;
    std::size_t count;
  };
  static constexpr std::size_t kGap = 3;  // elements behind each message
  [[nodiscard]] const std::vector<Message>& all() const { return all_; }
  [[nodiscard]] std::size_t elements() const { return elements_; }

 private:
  std::vector<Message> all_;
  std::size_t elements_ = 0;
};

Messages of_several_sizes() {
  return {kMessages, [](std::size_t i) { return kCounts[i % std::size(kCounts)]; }};
}

/// One rank's buffers for the messages that it sends, and for as many that it receives.
class Mail {
 public:
  Mail(const Communicator& world, MpiBackend& backend, DataType type, Messages messages)
      : backend_(backend),
        type_(type),
        messages_(std::move(messages)),
        rank_(world.rank()),
        table_(PatternTable::moved(type, 0)),
        send_(type, messages_.elements()),
        recv_(type, messages_.elements()) {
    table_.fill(send_.part(0, messages_.elements()), place(rank_, 0));
  }

  void start_send(const Messages::Message& message, int to) {
    backend_.start_send(send_.at(message.first), message.count, type_, to);
  }
  void start_recv(const Messages::Message& message, int from) {
    backend_.start_recv(recv_.at(message.first), message.count, type_, from);
  }
  void start_sends(int to) {
    for (const Messages::Message& message : messages_.all()) start_send(message, to);
  }
  void start_recvs(int from) {
    for (const Messages::Message& message : messages_.all()) start_recv(message, from);
  }
  void recv_in_turn(int from) {
    for (const Messages::Message& message : messages_.all()) {
      backend_.recv(recv_.at(message.first), message.count, type_, from);
      expect(message, from);
    }
  }

  void expect_all(int from) {
    for (const Messages::Message& message : messages_.all()) expect(message, from);
    expect_none(table_.check(send_.part(0, messages_.elements()), place(rank_, 0)), "what was sent");
    EXPECT_TRUE(recv_.guards_hold());
  }

  [[nodiscard]] const Messages& messages() const { return messages_; }

 private:
  static PatternPosition place(int source, std::size_t position) {
    return {position, pattern::source_shift(static_cast<std::uint64_t>(source))};
  }
  void expect(const Messages::Message& message, int from) {
    expect_none(table_.check(recv_.part(message.first, message.count), place(from, message.first)),
                fmt::format("{} of {} from rank {}, at {}", message.count, facts(type_).name, from, message.first));
    EXPECT_TRUE(recv_.is_untouched(message.first + message.count, Messages::kGap)) << "behind " << message.first;
  }

  MpiBackend& backend_;
  DataType type_;
  Messages messages_;
  int rank_;
  PatternTable table_;
  Elements send_;
  Elements recv_;
};

/// By how many elements one MPI call may be given.
class MpiMessages : public testing::TestWithParam<std::size_t> {
 protected:
  /// The other rank of this one's pair; nothing for the last of an odd number.
  [[nodiscard]] std::optional<int> partner() const {
    const int other = world_.rank() ^ 1;
    return other < world_.size() ? std::optional(other) : std::nullopt;
  }
  [[nodiscard]] bool is_first() const { return world_.rank() % 2 == 0; }
  [[nodiscard]] int next() const { return (world_.rank() + 1) % world_.size(); }
  [[nodiscard]] int before() const { return (world_.rank() + world_.size() - 1) % world_.size(); }
  [[nodiscard]] Mail mail(DataType type, Messages messages = of_several_sizes()) {
    return {world_, backend_, type, std::move(messages)};
  }

  Communicator world_ = Communicator::world();
  MpiBackend backend_{world_, GetParam()};
};

/// What comes back is what went there: the second rank of a pair answers with what it has received.
TEST_P(MpiMessages, GoBackAndForthInTurn) {
  if (!partner()) return;
  for (const DataType type : supported_types()) {
    const PatternTable table = PatternTable::moved(type, 0);
    for (const std::size_t count : kCounts) {
      Elements there(type, count);
      Elements back(type, count);
      for (std::uint64_t round = 0; round < 3; ++round) {
        const PatternPosition place{round * count, 0};
        table.fill(there.part(0, is_first() ? count : 0), place);
        if (is_first()) {
          backend_.send(there.at(0), count, type, *partner());
          backend_.recv(back.at(0), count, type, *partner());
        } else {
          backend_.recv(back.at(0), count, type, *partner());
          backend_.send(back.at(0), count, type, *partner());
        }
        expect_none(table.check(back.part(0, count), place), fmt::format("{} of {}", count, facts(type).name));
        EXPECT_TRUE(back.guards_hold());
      }
    }
  }
}

TEST_P(MpiMessages, GoOneWayManyAtOnce) {
  if (!partner()) return;
  for (const DataType type : supported_types()) {
    Mail window = mail(type);
    if (is_first()) {
      window.start_sends(*partner());
    } else {
      window.start_recvs(*partner());
    }
    backend_.finish();
    if (!is_first()) window.expect_all(*partner());
  }
}

TEST_P(MpiMessages, GoBothWaysAtOnce) {
  if (!partner()) return;
  for (const DataType type : supported_types()) {
    Mail window = mail(type);
    window.start_recvs(*partner());
    window.start_sends(*partner());
    backend_.finish();
    window.expect_all(*partner());
  }
}

/// Round a ring, of a single rank too, which sends to itself then.
TEST_P(MpiMessages, GoToOneRankWhileOthersComeFromAnother) {
  for (const DataType type : supported_types()) {
    Mail window = mail(type);
    for (const Messages::Message& message : window.messages().all()) {
      window.start_send(message, next());
      window.start_recv(message, before());
    }
    backend_.finish();
    window.expect_all(before());
  }
}

/// Messages of one size are told apart by their order only; here they come before anybody waits for them.
TEST_P(MpiMessages, MatchInTheirOrder) {
  Mail window = mail(DataType::kInt32, Messages(kMessages, [](std::size_t) { return 8; }));
  window.start_sends(next());
  world_.barrier();
  window.recv_in_turn(before());
  backend_.finish();
  window.expect_all(before());
}

TEST_P(MpiMessages, FollowEachOtherWindowByWindow) {
  for (int i = 0; i < 20; ++i) {
    Mail window = mail(DataType::kDouble);
    window.start_recvs(before());
    window.start_sends(next());
    backend_.finish();
    window.expect_all(before());
  }
}

/// More than there is room for from the start.
TEST_P(MpiMessages, MayBeThousandsAtOnce) {
  Mail window = mail(DataType::kInt8, Messages(3000, [](std::size_t i) { return i % 3; }));
  window.start_recvs(before());
  window.start_sends(next());
  backend_.finish();
  window.expect_all(before());
}

TEST_P(MpiMessages, AreThereByADeadline) {
  if (!partner()) return;
  Mail mail = this->mail(DataType::kFloat);
  mail.start_recvs(*partner());
  mail.start_sends(*partner());
  EXPECT_TRUE(backend_.finish_by(now() + 1e9));
  mail.expect_all(*partner());
}

/// They are received all the same, before those that come after them.
TEST_P(MpiMessages, AreGivenUpAtTheDeadline) {
  if (!partner()) return world_.barrier();
  Mail mail = this->mail(DataType::kFloat);
  mail.start_recvs(*partner());
  EXPECT_FALSE(backend_.finish_by(now()));
  world_.barrier();  // nobody sends before
  mail.start_sends(*partner());
  mail.start_recvs(*partner());
  mail.start_sends(*partner());
  backend_.finish();
  mail.expect_all(*partner());
}

TEST_P(MpiMessages, OfNoneIsNothingToWaitFor) {
  backend_.finish();
  backend_.finish();
  EXPECT_EQ(world_.sum(std::int64_t{1}), world_.size());
}

INSTANTIATE_TEST_SUITE_P(ElementsPerCall, MpiMessages, testing::Values(kAnyCount, 7, 1));

/// Each needs a datatype of its own, and the one before is freed while its message is still under way: none of them
/// can have left, since they are too long for MPI to keep and nobody waits for them yet.
TEST(MpiLargeMessages, OfUnlikeCountsAreUnderWayAtOnce) {
  const Communicator world = Communicator::world();
  MpiBackend backend(world, 1000);
  const int next = (world.rank() + 1) % world.size();
  const int before = (world.rank() + world.size() - 1) % world.size();
  for (int round = 0; round < 2; ++round) {
    Mail window(world, backend, DataType::kInt32, Messages(12, [](std::size_t i) { return 100'000 + 1001 * i; }));
    window.start_sends(next);
    world.barrier();
    window.start_recvs(before);
    backend.finish();
    window.expect_all(before);
  }
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// Every rank sends itself more than it expects.
TEST(MpiMessageErrors, AreNamedAndDoNotStayBehind) {
  const Communicator world = Communicator::world();
  MpiBackend backend(world);
  const std::vector<std::int32_t> sent(8, world.rank());
  std::vector<std::int32_t> received(8, -1);
  const auto counts = [&](std::size_t expected) {
    backend.start_send(sent.data(), 1, DataType::kInt32, world.rank());
    backend.start_send(sent.data(), 8, DataType::kInt32, world.rank());
    backend.start_recv(received.data(), 1, DataType::kInt32, world.rank());
    backend.start_recv(received.data(), expected, DataType::kInt32, world.rank());
    backend.finish();
  };
  const std::string error = error_of([&] { counts(4); });
  EXPECT_TRUE(error.starts_with("mpi: MPI_Waitall: ")) << error;
  EXPECT_NE(error.find("truncated"), std::string::npos) << error;

  counts(8);
  EXPECT_EQ(received, sent);
}

/// What went wrong is named, and not that the message before it is still pending.
TEST(MpiMessageErrors, AreNotThoseOfMessagesThatOnlyWait) {
  const Communicator world = Communicator::world();
  if (world.size() == 1) return;
  MpiBackend backend(world);
  const std::vector<std::int32_t> sent(8, 7);
  std::vector<std::int32_t> received(4, -1);
  std::int32_t later = -1;
  const int next = (world.rank() + 1) % world.size();
  const int before = (world.rank() + world.size() - 1) % world.size();
  backend.start_recv(&later, 1, DataType::kInt32, before);
  backend.start_send(sent.data(), 8, DataType::kInt32, world.rank());
  backend.start_recv(received.data(), 4, DataType::kInt32, world.rank());
  const std::string error = error_of([&] { backend.finish(); });
  EXPECT_NE(error.find("truncated"), std::string::npos) << error;

  world.barrier();  // nobody sends before
  std::int32_t last = -1;
  backend.start_recv(&last, 1, DataType::kInt32, before);
  backend.start_send(&sent[0], 1, DataType::kInt32, next);
  backend.start_send(&sent[1], 1, DataType::kInt32, next);
  backend.finish();
  EXPECT_EQ(later, sent[0]);
  EXPECT_EQ(last, sent[1]);
}

TEST(MpiMessageErrors, OfAPeerThatDoesNotExistAreNamed) {
  const Communicator world = Communicator::world();
  MpiBackend backend(world);
  int value = 0;
  const int nobody = world.size();
  const auto expect_named = [](const std::string& call, const std::string& error) {
    EXPECT_TRUE(error.starts_with("mpi: " + call + ": ")) << error;
  };
  expect_named("MPI_Send", error_of([&] { backend.send(&value, 1, DataType::kInt32, nobody); }));
  expect_named("MPI_Recv", error_of([&] { backend.recv(&value, 1, DataType::kInt32, nobody); }));
  expect_named("MPI_Isend", error_of([&] { backend.start_send(&value, 1, DataType::kInt32, nobody); }));
  expect_named("MPI_Irecv", error_of([&] { backend.start_recv(&value, 1, DataType::kInt32, nobody); }));
  backend.finish();
}

}  // namespace
}  // namespace fabricbench::mpi
