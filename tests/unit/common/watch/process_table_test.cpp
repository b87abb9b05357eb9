#include "common/watch/process_table.h"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/core/ownership.h"
#include "common/watch/watchdog.h"

using namespace fabricbench;

namespace process_table_test {

using Ranks = std::vector<int>;
using Bytes = ProcessTable::Bytes;

/// The descriptor that the next call gets.
int next_descriptor() {
  const int descriptor = fcntl(STDIN_FILENO, F_DUPFD, 0);
  close(descriptor);
  return descriptor;
}

/// A process at rest, which hears of the others by its table only. Time is scripted, the sockets are real.
struct Process {
  Process(int rank, int size, Seconds timeout, const ProcessTable::Share& share)
      : interval(StallDetector::interval(timeout)),
        descriptor(next_descriptor()),
        table(rank, size, true, share),
        roll(StallDetector::patience(rank, timeout, 0), rank),
        jitter(rank) {}

  /// Returns who is gone.
  Ranks look(Seconds now) {
    if (now < next_look) return {};
    keep_in_touch(table, roll, now);
    next_look = now + (roll.is_anxious(now) ? 0 : jitter.shorten(interval));
    return roll.gone(now);
  }

  Seconds interval;
  Seconds next_look = 0;
  int descriptor;
  ProcessTable table;
  FailureDetector roll;
  Jitter jitter;
};

/// The processes of a job on one host, which have heard of each other. From then on the first one's socket has room for
/// the fewest datagrams that the kernel allows: one, or four with older kernels.
class Job {
 public:
  Job(int size, Seconds timeout) {
    Bytes of_first;
    for (int rank = 0; rank < size; ++rank) {
      processes_.emplace_back(rank, size, timeout,
                              [&](const Bytes& own) { return rank == 0 ? of_first = own : of_first; });
    }
    EXPECT_EQ(pass(timeout / 8), Ranks{});
    EXPECT_EQ(processes_[0].roll.silences(now_).size(), processes_.size() - 1);
    const int least = 1;
    setsockopt(processes_[0].descriptor, SOL_SOCKET, SO_RCVBUF, &least, sizeof least);
  }

  /// Returns who is gone for the first process, or for whom that one is. `dead` looks no more.
  Ranks pass(Seconds time, int dead = -1) {
    constexpr Seconds kStep = 0.002;
    for (const Seconds end = now_ + time; now_ < end; now_ += kStep) {
      for (int rank = 0; rank < static_cast<int>(processes_.size()); ++rank) {
        if (rank == dead) continue;
        const Ranks gone = processes_[static_cast<std::size_t>(rank)].look(now_);
        if (!gone.empty()) return rank == 0 ? gone : Ranks{rank};
      }
    }
    return {};
  }

 private:
  std::deque<Process> processes_;
  Seconds now_ = 100;
};

TEST(ProcessTable, LosesNobodyOfThirtyAtAShortLimitWhereThereIsRoomForOneDatagram) {
  Job job(31, 6);
  EXPECT_EQ(job.pass(120), Ranks{});
}

TEST(ProcessTable, LosesNobodyOfHundredsWhereThereIsRoomForOneDatagram) {
  Job job(200, 30);
  EXPECT_EQ(job.pass(80), Ranks{});
}

TEST(ProcessTable, NamesTheOneThatIsGone) {
  Job job(31, 6);
  EXPECT_EQ(job.pass(20), Ranks{});
  EXPECT_EQ(job.pass(60, 7), Ranks{7});
}

TEST(ProcessTable, NoticesThatTheFirstOneIsGone) {
  Job job(2, 6);
  EXPECT_EQ(job.pass(20), Ranks{});
  EXPECT_EQ(job.pass(60, 0), Ranks{1});
}

/// A socket of its own on the loopback.
struct Listener {
  Listener() : socket(::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    EXPECT_EQ(bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length), 0);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() { close(socket); }

  int count() const {
    char byte = 0;
    int datagrams = 0;
    while (recv(socket, &byte, 1, 0) >= 0) ++datagrams;
    return datagrams;
  }

  int socket;
  sockaddr_in address{};
};

TEST(ProcessTable, SendsToOneAddressOnceItIsAnsweredAndToAllIfItIsNotAnyMore) {
  const Listener other;
  Bytes of_first;
  ProcessTable first(0, 2, true, [&](const Bytes& own) {
    of_first = own;
    of_first.resize(own.size() + sizeof other.address);
    std::memcpy(of_first.data() + own.size(), &other.address, sizeof other.address);
    return own;
  });
  ProcessTable second(1, 2, true, [&](const Bytes& /*own*/) { return of_first; });
  second.say_here();
  EXPECT_EQ(other.count(), 1);
  EXPECT_EQ(first.listen(), std::set<int>{1});
  EXPECT_EQ(second.listen(), std::set<int>{0});
  for (int i = 0; i < 4; ++i) second.say_here();
  EXPECT_EQ(other.count(), 0);
  second.say_here();
  EXPECT_EQ(other.count(), 1);
}

TEST(ProcessTable, AnswersReportsToo) {
  Bytes of_first;
  ProcessTable first(0, 2, true, [&](const Bytes& own) { return of_first = own; });
  ProcessTable second(1, 2, true, [&](const Bytes& /*own*/) { return of_first; });
  second.report({.steps = 7, .stuck_s = 2.5, .activity = "measuring"});
  first.report({});
  EXPECT_EQ(first.reports().at(1).activity, "measuring");
  EXPECT_EQ(second.listen(), std::set<int>{0});
  first.ask({1});
  EXPECT_EQ(second.listen(), std::set<int>{0});
  EXPECT_EQ(first.listen(), std::set<int>{1});
}

/// Two processes that have ended MPI, or the second of them not.
class Leaving : public testing::Test {
  Bytes of_first_;

 protected:
  Process first_{0, 2, 8, [this](const Bytes& own) { return of_first_ = own; }};
  Process second_{1, 2, 8, [this](const Bytes& /*own*/) { return of_first_; }};

  bool first_may_go(Seconds waited) { return take_leave(first_.table, first_.roll, 9, waited, 100 + waited); }
  bool second_may_go(Seconds waited) { return take_leave(second_.table, second_.roll, 9, waited, 100 + waited); }
};

TEST_F(Leaving, DoesNotWaitForWhoWasNeverHeard) {
  EXPECT_TRUE(first_may_go(0));
  EXPECT_TRUE(second_may_go(0));
}

TEST_F(Leaving, LetsTheFirstOneWaitForWhoIsStuck) {
  second_.look(99);
  for (Seconds waited = 0; waited < 60; waited += 1) {
    EXPECT_FALSE(first_may_go(waited)) << waited;
    second_.look(100 + waited);
  }
  (void)second_may_go(60);
  EXPECT_TRUE(first_may_go(60));
  EXPECT_TRUE(second_may_go(60));
  EXPECT_EQ(first_.table.reports().at(1).steps, 9U) << "so that the first one is behind, if it is what is stuck";
}

TEST_F(Leaving, LetsTheOthersGoIfTheFirstOneIsGone) {
  second_.look(99);
  first_.look(99);
  second_.look(100);
  EXPECT_FALSE(second_may_go(0));
  EXPECT_FALSE(second_may_go(3.9));
  EXPECT_TRUE(second_may_go(4));
}

TEST_F(Leaving, KeepsTheOthersQuietIfTheFirstOneHasSaidWhyItEndsTheJob) {
  second_.look(99);
  first_.look(99);
  second_.look(100);
  EXPECT_FALSE(second_.table.is_ended());
  first_.table.tell_end();
  second_.look(101);
  EXPECT_TRUE(second_.table.is_ended());
}

}  // namespace process_table_test
