#include "common/measure/workspace.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "fake_session.h"

using namespace fabricbench;
using test::HostSession;
using test::IdleBackend;

namespace workspace_test {

constexpr Ranks kFirstOfTwo{.first = 0, .local = 1, .all = 2};

/// Whether `data` is what a buffer holds from its beginning on.
bool holds(const SourceData& data, std::span<const std::byte> buffer) {
  return !data.table.check(buffer, data.at(0)).has_value();
}

TEST(Workspace, FillsTheSendPoolAndKeepsItsGuardZoneOut) {
  IdleBackend backend;
  HostSession session(backend);
  for (const std::int64_t unalign : {0, 1, 7}) {
    Workspace workspace(session, 4099, true, unalign, kFirstOfTwo);
    workspace.use(DataType::kDouble, Reduction::kMax);
    EXPECT_TRUE(holds(workspace.sent(0), workspace.send(0).first(4096)));
    EXPECT_GE(workspace.recv(0).size(), 4099 + kGuardBytes);
    workspace.use(DataType::kInt8, Reduction::kSum);
    EXPECT_TRUE(holds(workspace.sent(0), workspace.send(0).first(4099))) << "made anew for another datatype";
  }
}

TEST(Workspace, HasOneBufferOrTwoPageAlignedAndShifted) {
  IdleBackend backend;
  HostSession session(backend);
  {
    Workspace one(session, 100, false, 0, kFirstOfTwo);
    EXPECT_EQ(session.blocks_held, 1);
    one.use(DataType::kFloat, Reduction::kSum);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(one.recv(0).data()) % 4096, 0U);
    Workspace shifted(session, 100, true, 3, kFirstOfTwo);
    EXPECT_EQ(session.blocks_held, 3);
    shifted.use(DataType::kFloat, Reduction::kSum);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(shifted.send(0).data()) % 4096, 12U);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(shifted.recv(0).data()) % 4096, 12U);
  }
  EXPECT_EQ(session.blocks_held, 0) << "what it allocated goes with it";
}

TEST(Workspace, HasBuffersAndDataOfItsOwnForEachLocalRank) {
  IdleBackend first;
  IdleBackend second;
  HostSession session({&first, &second});
  Workspace workspace(session, 4096, true, 0, {.first = 4, .local = 2, .all = 8});
  EXPECT_EQ(session.blocks_held, 4);
  for (const Reduction reduction : {Reduction::kSum, Reduction::kMulSum, Reduction::kNone}) {
    workspace.use(DataType::kInt32, reduction);
    for (const int local : {0, 1}) EXPECT_TRUE(holds(workspace.sent(local), workspace.send(local).first(4096)));
    EXPECT_FALSE(holds(workspace.sent(0), workspace.send(1).first(4096))) << name(reduction);
    EXPECT_FALSE(holds(workspace.sent(1), workspace.send(0).first(4096))) << name(reduction);
  }
}

TEST(Workspace, SendsWhatTheRanksOfTheJobSend) {
  IdleBackend first;
  IdleBackend second;
  HostSession session({&first, &second});
  Workspace workspace(session, 4096, true, 0, {.first = 4, .local = 2, .all = 8});
  workspace.use(DataType::kFloat, Reduction::kSum);
  for (const int local : {0, 1}) {
    const PatternTable sent = PatternTable::sent(DataType::kFloat, Reduction::kSum, 4 + local, 8);
    EXPECT_FALSE(sent.check(workspace.send(local).first(4096), {}));
  }
  std::vector<std::byte> result(4096);
  PatternTable::reduced(DataType::kFloat, Reduction::kSum, 8).fill(result, {});
  EXPECT_FALSE(workspace.reduced().check(result, {}));
}

/// What a rank finds of another, whichever family of ranks the other is in, is what that one sends.
TEST(Workspace, KnowsWhatAnyRankSendsWhereDataIsOnlyMoved) {
  IdleBackend backend;
  HostSession session(backend);
  constexpr int kMany = 20'000;
  Workspace own(session, 4096, true, 0, {.first = 3, .local = 1, .all = kMany});
  own.use(DataType::kInt64, Reduction::kNone);
  for (const int rank : {0, 3, 8190, 8191, 3, 8192, 16384, 8193, kMany - 1}) {
    Workspace theirs(session, 4096, true, 0, {.first = rank, .local = 1, .all = kMany});
    theirs.use(DataType::kInt64, Reduction::kNone);
    EXPECT_TRUE(holds(own.moved_from(rank), theirs.send(0).first(4096))) << rank;
    EXPECT_EQ(holds(own.sent(0), theirs.send(0).first(4096)), rank == 3) << rank;
  }
}

TEST(SourceData, HasTheShiftOfItsSourceAtAnyPosition) {
  const PatternTable table = PatternTable::moved(DataType::kInt32, 0);
  const PatternPosition place = SourceData{table, 77}.at(12);
  EXPECT_EQ(place.position, 12U);
  EXPECT_EQ(place.shift, 77U);
}

}  // namespace workspace_test
