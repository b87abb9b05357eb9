// The comparison rate of a pair, of messages that take a known time.

#include "common/harness/rate_of.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "harness_fakes.h"

namespace fabricbench {
namespace {

constexpr Bytes kSize = 1000;
constexpr Seconds kTime = 1e-3;

/// Messages that only one of the ranks waits for.
class WaitOfOne final : public Sleeper {
 public:
  WaitOfOne(int rank, double share) : Sleeper(kTime), rank_(rank), share_(share) {}
  void start(Backend& backend, const Operands& operands) const override {
    if (operands.rank == rank_) Sleeper::start(backend, operands);
  }
  [[nodiscard]] double counted_share(int /*ranks*/) const override { return share_; }

 private:
  int rank_;
  double share_;
};

double rate_with(const mpi::Communicator& world, const WaitOfOne& test) {
  IdleSession session;
  const Buffers sent(session, kSize);
  const Buffers received(session, kSize);
  return rate_of(session, test, sent.on(0), received.on(0), world);
}

TEST(RateOf, IsThatOfTheRankThatWaits) {
  const mpi::Communicator world = mpi::Communicator::world();
  for (int rank = 0; rank < world.size(); ++rank) {
    const WaitOfOne test(rank, 1);
    const double rate = rate_with(world, test);
    EXPECT_EQ(rate, world.max(rate));
    EXPECT_EQ(rate, -world.max(-rate));
    EXPECT_GT(rate, 0);
    EXPECT_LE(rate, kSize / kTime);
    if (rank != world.rank()) continue;
    EXPECT_GE(test.took.size(), 16U * 5);  // windows
    EXPECT_GE(rate, kSize / (2 * *std::max_element(test.took.begin(), test.took.end())));
  }
}

TEST(RateOf, CountsWhatARowCounts) {
  const mpi::Communicator world = mpi::Communicator::world();
  const WaitOfOne test(0, 2);
  const double rate = rate_with(world, test);
  EXPECT_LE(rate, 2 * kSize / kTime);
  if (world.rank() == 0) {
    EXPECT_GE(rate, 2 * kSize / (2 * *std::max_element(test.took.begin(), test.took.end())));
  }
}

}  // namespace
}  // namespace fabricbench
