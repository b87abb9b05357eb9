// The comparison rate of a pair, of messages that take a known time.

#include "common/measure/rate_of.h"

#include <gtest/gtest.h>

#include "harness_fakes.h"

namespace fabricbench {
namespace {

constexpr Bytes kBlock = 1000;
constexpr int kWindow = 16;  // messages

/// Messages that only one of the ranks waits for. Windows of odd number, from 0, take as long again.
class WaitOfOne final : public Sleeper, private Windows {
 public:
  WaitOfOne(int rank, Seconds time, double share)
      : Sleeper([time](int start) { return time * (1 + start / kWindow % 2); }), rank_(rank), share_(share) {}
  void start(Backend& backend, const Operands& operands) const override {
    if (operands.rank == rank_) Sleeper::start(backend, operands);
  }
  [[nodiscard]] double counted_share(int /*ranks*/) const override { return share_; }
  [[nodiscard]] const Windows* windows() const override { return this; }

 private:
  void finish(Backend& /*backend*/, const Operands& /*operands*/) const override {}
  void answer(Backend& /*backend*/, const Operands& /*operands*/) const override {}

  int rank_;
  double share_;
};

class RateOf : public ScriptedJob {
 protected:
  [[nodiscard]] double rate_with(const WaitOfOne& test) const {
    IdleSession session;
    const Buffers sent(session, kBlock);
    const Buffers received(session, kBlock);
    return rate_of(session, test, sent.on(0), received.on(0), world_);
  }
  /// `rate` is that of windows of messages that take so long each.
  static void expect_rate(double rate, Seconds time) {
    EXPECT_NEAR(kBlock * kWindow / rate, kWindow * time + kReading, kRounding);
  }

  mpi::Communicator world_ = mpi::Communicator::world();
};

/// After one untimed window a second one, of 32 ms, says how many fit into 0.2 s: six, of which three are short.
TEST_F(RateOf, IsThatOfTheRankThatWaits) {
  constexpr Seconds kTime = 1e-3;
  for (int rank = 0; rank < world_.size(); ++rank) {
    const WaitOfOne test(rank, kTime, 1);
    expect_rate(rate_with(test), 1.5 * kTime);  // the median, on every rank
    EXPECT_EQ(test.starts, rank == world_.rank() ? kWindow * (2 + 6) : 0);
  }
}

TEST_F(RateOf, IsOfFiveWindowsAtLeast) {
  const WaitOfOne test(0, 1, 1);
  expect_rate(rate_with(test), 1);  // three of them are short
  if (world_.is_root()) {
    EXPECT_EQ(test.starts, kWindow * (2 + 5));
  }
}

TEST_F(RateOf, IsOfAThousandWindowsAtMost) {
  const WaitOfOne test(0, 1e-9, 1);
  EXPECT_GT(rate_with(test), 0);
  if (world_.is_root()) {
    EXPECT_EQ(test.starts, kWindow * (2 + 1000));
  }
}

TEST_F(RateOf, CountsWhatARowCounts) {
  const WaitOfOne test(0, 1, 2);
  expect_rate(rate_with(test) / 2, 1);
}

}  // namespace
}  // namespace fabricbench
