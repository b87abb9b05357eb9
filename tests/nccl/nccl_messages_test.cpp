// Messages between two ranks, carried by NCCL: back and forth, and many at once. Ranks are paired with their
// neighbours.

#include <functional>

#include "common/core/error.h"
#include "nccl_fixture.h"

namespace fabricbench::nccl {
namespace nccl_messages_test {

constexpr std::size_t kMessages = 64;
constexpr std::size_t kCounts[] = {1, 0, 7, 1000, 8, 30011, 0, 37};  // one is more than a pipe of the fake holds
constexpr DataType kType = DataType::kInt32;
constexpr std::size_t kElement = sizeof(std::int32_t);

struct Message {
  std::size_t first;
  std::size_t count;
};

/// Of a window, one behind the other.
const std::vector<Message>& messages() {
  static const std::vector<Message> all = [] {
    std::vector<Message> made;
    std::size_t first = 0;
    for (std::size_t i = 0; i < kMessages; ++i) {
      made.push_back({first, kCounts[i % std::size(kCounts)]});
      first += made.back().count;
    }
    return made;
  }();
  return all;
}

std::size_t elements_of_all() { return messages().back().first + messages().back().count; }

class NcclMessagesTest : public NcclTest {
 protected:
  ~NcclMessagesTest() override { unsetenv("FAKE_NCCL_FAULT"); }

  [[nodiscard]] static PatternPosition place(int source) {
    return {0, pattern::source_shift(static_cast<std::uint64_t>(source))};
  }
  [[nodiscard]] static bool is_first(int rank) { return rank % 2 == 0; }
  [[nodiscard]] static int partner_of(int rank) { return rank ^ 1; }

  /// Each rank's own data.
  void fill(const Buffers& buffers) {
    for (int i = 0; i < session_->local_ranks(); ++i) {
      session_->memory(i).fill(buffers.on(i), table_, place(rank_of(i)));
    }
  }
  void poison(const Buffers& buffers) {
    for (int i = 0; i < session_->local_ranks(); ++i) session_->memory(i).set(buffers.on(i), pattern::kPoisonByte);
  }
  void expect(const Buffers& buffers, int local_rank, int source) {
    const auto wrong = session_->memory(local_rank).check(buffers.on(local_rank), table_, place(source));
    EXPECT_FALSE(wrong) << wrong->count << " wrong of rank " << source << ", first at " << wrong->first_offset << ": "
                        << wrong->expected << ", got " << wrong->got;
  }

  /// A window to the partner, one from it, or both, on every rank.
  struct Window {
    Buffers send;
    Buffers recv;
    bool both_ways;
  };
  [[nodiscard]] Window make_window(bool both_ways) {
    Window made{Buffers(*session_, elements_of_all() * kElement), Buffers(*session_, elements_of_all() * kElement),
                both_ways};
    fill(made.send);
    poison(made.recv);
    return made;
  }
  void start_window(const Window& window, int i, CollectiveBackend& backend) const {
    const int partner = partner_of(rank_of(i));
    for (const Message& message : messages()) {
      const std::size_t offset = message.first * kElement;
      if (window.both_ways || is_first(rank_of(i))) {
        backend.start_send(window.send.on(i).data() + offset, message.count, kType, partner);
      }
      if (window.both_ways || !is_first(rank_of(i))) {
        backend.start_recv(window.recv.on(i).data() + offset, message.count, kType, partner);
      }
    }
  }
  void finish_all() {
    for (int i = 0; i < session_->local_ranks(); ++i) session_->backend(i).finish();
  }
  void expect_received(const Window& window) {
    for (int i = 0; i < session_->local_ranks(); ++i) {
      if (window.both_ways || !is_first(rank_of(i))) {
        expect(window.recv, i, partner_of(rank_of(i)));
      }
      expect(window.send, i, rank_of(i));
    }
  }

  std::unique_ptr<NcclSession> session_ = make_session();
  PatternTable table_ = PatternTable::moved(kType, 0);
};

/// The second rank of a pair answers with what it has received, which is there only if that came first.
TEST_F(NcclMessagesTest, GoBackAndForthInTheOrderOfTheStream) {
  for (const std::size_t count : kCounts) {
    const Buffers there(*session_, count * kElement);
    const Buffers back(*session_, count * kElement);
    fill(there);
    poison(back);
    for (int round = 0; round < 3; ++round) {
      for (const bool from_first : {true, false}) {
        const auto exchange = [&](int i, CollectiveBackend& backend) {
          const int rank = rank_of(i);
          const bool sends = is_first(rank) == from_first;
          const Buffers& sent = is_first(rank) ? there : back;
          if (sends) backend.send(sent.on(i).data(), count, kType, partner_of(rank));
          if (!sends) backend.recv(back.on(i).data(), count, kType, partner_of(rank));
        };
        if (session_->local_ranks() == 1) {
          exchange(0, collectives(session_->backend(0)));  // each call a group of its own
        } else {
          start(*session_, exchange);
        }
      }
    }
    session_->wait();
    for (int i = 0; i < session_->local_ranks(); ++i) expect(back, i, rank_of(i) / 2 * 2);
  }
}

TEST_F(NcclMessagesTest, OfAWindowAreLaunchedTogether) {
  for (const bool both_ways : {false, true}) {
    const Window made = make_window(both_ways);
    for (int i = 0; i < session_->local_ranks(); ++i) start_window(made, i, collectives(session_->backend(i)));
    finish_all();
    session_->wait();
    expect_received(made);
  }
}

TEST_F(NcclMessagesTest, OfAWindowMayBeginAndFinishWithinAGroup) {
  for (const bool both_ways : {false, true}) {
    const Window made = make_window(both_ways);
    run(*session_, [&](int i, CollectiveBackend& backend) {
      start_window(made, i, backend);
      backend.finish();
    });
    expect_received(made);
  }
}

/// As the harness measures them.
TEST_F(NcclMessagesTest, OfAWindowMayFinishBehindTheGroupThatTheyBeganIn) {
  for (const bool both_ways : {false, true}) {
    const Window made = make_window(both_ways);
    start(*session_, [&](int i, CollectiveBackend& backend) { start_window(made, i, backend); });
    finish_all();
    session_->wait();
    expect_received(made);
  }
}

/// The second window sends on what the first has brought.
TEST_F(NcclMessagesTest, OfALaterWindowFollowThoseBefore) {
  const Window first = make_window(true);
  Window second = make_window(true);
  start(*session_, [&](int i, CollectiveBackend& backend) { start_window(first, i, backend); });
  finish_all();
  for (int i = 0; i < session_->local_ranks(); ++i) {
    collectives(session_->backend(i)).copy(first.recv.on(i).data(), second.send.on(i).data(), second.send.on(i).size());
  }
  start(*session_, [&](int i, CollectiveBackend& backend) { start_window(second, i, backend); });
  finish_all();
  session_->wait();
  expect_received(first);
  for (int i = 0; i < session_->local_ranks(); ++i) expect(second.recv, i, rank_of(i));
}

TEST_F(NcclMessagesTest, OfNoneAreNothingToFinish) {
  finish_all();
  const Window made = make_window(true);
  start(*session_, [&](int i, CollectiveBackend& backend) { start_window(made, i, backend); });
  finish_all();
  finish_all();
  session_->wait();
  expect_received(made);
}

/// What is started later is not part of the group that a failed call leaves.
TEST_F(NcclMessagesTest, ThatCannotStartLeaveNoGroupOpen) {
  const Buffers data(*session_, kElement);
  CollectiveBackend& backend = collectives(session_->backend(0));
  try {
    backend.start_send(data.on(0).data(), 1, kType, partner_of(rank_of(0)));
    backend.start_recv(data.on(0).data(), 1, kType, ranks());
    ADD_FAILURE() << "there is no such rank";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("nccl: rank " + std::to_string(rank_of(0))), std::string::npos) << text;
    EXPECT_NE(text.find("ncclRecv: invalid argument"), std::string::npos) << text;
  }
  backend.finish();
  const Window made = make_window(true);
  run(*session_, [&](int i, CollectiveBackend& all) {
    start_window(made, i, all);
    all.finish();
  });
  expect_received(made);
}

/// The fake fails a rank's first call, so it is seen whether there was one.
TEST_F(NcclMessagesTest, ThatAreEmptyAreSentToo) {
  setenv("FAKE_NCCL_FAULT", ("call_error:" + std::to_string(rank_of(0)) + ":0").c_str(), 1);
  for (const auto& message : std::vector<std::function<void(CollectiveBackend&, int)>>{
           [](CollectiveBackend&backend, int peer) { backend.send(nullptr, 0, kType, peer); },
           [](CollectiveBackend&backend, int peer) { backend.recv(nullptr, 0, kType, peer); },
           [](CollectiveBackend&backend, int peer) { backend.start_send(nullptr, 0, kType, peer); },
           [](CollectiveBackend&backend, int peer) { backend.start_recv(nullptr, 0, kType, peer); }}) {
    session_ = make_session();
    EXPECT_THROW(message(collectives(session_->backend(0)), partner_of(rank_of(0))), Error);
  }
}

}  // namespace nccl_messages_test
}  // namespace fabricbench::nccl
