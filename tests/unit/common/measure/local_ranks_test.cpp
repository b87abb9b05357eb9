// An operation of a process that drives several ranks, or that has several stages, parts of its own, or a root.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "common/measure/operation.h"
#include "fake_session.h"

using namespace fabricbench;

namespace local_ranks_test {

constexpr int kRanks = 6;
constexpr int kFirst = 2;  // this process has ranks 2 and 3
constexpr std::uint64_t kCount = 100;

/// A call that a collective made.
struct Call {
  int rank;
  int stage;
  std::size_t group;  // how many groups had begun, and how many had ended
  std::size_t ended;
  bool operator==(const Call&) const = default;
};

/// Moves data: in `stages` steps, of which the last delivers what `deliver` writes.
class Mover final : public Collective {
 public:
  using Deliver = std::function<void(const Operands&)>;
  explicit Mover(int stage_count = 1) : Collective({.name = "mover"}), stage_count_(stage_count) {}

  [[nodiscard]] Layout layout(Request request, int) const override {
    return {request.elements, request.elements, request.elements};
  }
  [[nodiscard]] double bus_factor(int) const override { return 1; }
  [[nodiscard]] std::optional<InPlace> in_place(const Layout&, const Participant& self) const override {
    return InPlace{.send_begin = 10 * static_cast<std::uint64_t>(self.rank), .recv_begin = 5};
  }
  [[nodiscard]] std::vector<ExpectedBlock> expected(const Layout& layout, const Participant& self) const override {
    participants.push_back(self);
    const int next = (self.rank + 1) % self.ranks;  // a rank gets what the next one sends
    return {{.begin = 0, .count = layout.count - 20, .source = next, .position = 3}};
  }
  [[nodiscard]] std::optional<AllToAllVCounts> counts(const Layout&, const Participant& self) const override {
    if (!has_exchange) return std::nullopt;
    return AllToAllVCounts{{static_cast<std::uint64_t>(self.rank)}, {0}, {0}, {0}};
  }
  [[nodiscard]] int stages(int) const override { return stage_count_; }
  void start(Backend& backend, const Operands& operands) const override {
    backends.push_back(&backend);
    started(operands);
  }

  bool has_exchange = false;
  std::function<void(const Operands&)> started = [](const Operands&) {};
  mutable std::vector<Participant> participants;
  mutable std::vector<Backend*> backends;

 private:
  int stage_count_;
};

/// Two ranks of six, and an operation of theirs.
struct Process {
  explicit Process(const Mover& collective, bool in_place = false, std::int64_t aggregated = 1, int root = -1)
      : session({&first, &second}),
        workspace(session, 10 * kCount * 4, true, 0, {.first = kFirst, .local = 2, .all = kRanks}),
        which{kCount * 4, collective.layout({kCount, 4}, kRanks), DataType::kInt32, Reduction::kNone, root, in_place} {
    workspace.use(DataType::kInt32, Reduction::kNone);
    operation.emplace(collective, session, workspace, which, BufferPolicy::kSame, aggregated);
  }

  test::IdleBackend first;
  test::IdleBackend second;
  test::HostSession session;
  Workspace workspace;
  Case which;
  std::optional<Operation> operation;
};

/// What a rank must find: the next one's data from position 3 on, in place from where that one's part begins.
void deliver(const Operands& operands, bool in_place) {
  const int source = (operands.rank + 1) % operands.ranks;
  const std::uint64_t begin = in_place ? 10 * static_cast<std::uint64_t>(source) : 0;
  PatternTable::moved(DataType::kInt32, 0)
      .fill({operands.recv, (kCount - 20) * 4}, {begin + 3, pattern::source_shift(static_cast<std::uint64_t>(source))});
}

TEST(LocalRanks, EachStartOnTheirOwnBackendAndBuffersInOneGroup) {
  Mover collective;
  std::vector<Operands> started;
  std::vector<int> open_groups;
  collective.started = [&](const Operands& operands) { started.push_back(operands); };
  Process process(collective);
  process.operation->prepare(1);
  process.operation->start();
  ASSERT_EQ(started.size(), 2U);
  EXPECT_EQ(collective.backends, (std::vector<Backend*>{&process.first, &process.second}));
  for (const int local : {0, 1}) {
    const Operands& operands = started[static_cast<std::size_t>(local)];
    EXPECT_EQ(operands.rank, kFirst + local);
    EXPECT_EQ(operands.ranks, kRanks);
    EXPECT_EQ(operands.count, kCount);
    EXPECT_EQ(operands.send, process.workspace.send(local).data());
    EXPECT_EQ(operands.recv, process.workspace.recv(local).data());
    EXPECT_EQ(operands.counts, nullptr);
  }
  EXPECT_EQ(process.session.groups_begun, 1);
  EXPECT_EQ(process.session.groups_ended, 1);
}

TEST(LocalRanks, OfARightResultPass) {
  for (const bool in_place : {false, true}) {
    Mover collective;
    collective.started = [&](const Operands& operands) { deliver(operands, in_place); };
    Process process(collective, in_place);
    process.operation->prepare(1);
    process.operation->start();
    process.operation->wait();
    EXPECT_EQ(process.session.waits, 1) << "for all ranks at once";
    const auto wrong = process.operation->check(1);
    EXPECT_FALSE(wrong) << in_place << wrong->first.expected << " " << wrong->first.got;
  }
}

TEST(LocalRanks, ThatAreWrongAreCountedAndTheLowestIsNamed) {
  for (const int wrong_rank : {2, 3}) {
    Mover collective;
    collective.started = [&](const Operands& operands) {
      deliver(operands, false);
      if (operands.rank >= wrong_rank) operands.recv[7 * 4] ^= std::byte{1};
      if (operands.rank == 3) operands.recv[9 * 4] ^= std::byte{1};
    };
    Process process(collective);
    process.operation->prepare(1);
    process.operation->start();
    const auto wrong = process.operation->check(1);
    ASSERT_TRUE(wrong);
    EXPECT_EQ(wrong->rank, wrong_rank) << "the job's number, not the process's";
    EXPECT_EQ(wrong->ranks, wrong_rank == 2 ? 2 : 1);
    EXPECT_EQ(wrong->elements, wrong_rank == 2 ? 3U : 2U);
    EXPECT_EQ(wrong->first.first_offset, 7U);
  }
}

TEST(LocalRanks, ThatGetEachOthersResultAreWrong) {
  Mover collective;
  collective.started = [&](const Operands& operands) {
    Operands other = operands;
    other.rank = operands.rank == kFirst ? kFirst + 1 : kFirst;
    deliver(other, false);
  };
  Process process(collective);
  process.operation->prepare(1);
  process.operation->start();
  EXPECT_EQ(process.operation->check(1)->ranks, 2);
}

TEST(LocalRanks, InPlaceSendAndReceiveWhereTheCollectiveSays) {
  Mover collective;
  std::vector<Operands> started;
  collective.started = [&](const Operands& operands) { started.push_back(operands); };
  Process process(collective, true);
  process.operation->prepare(1);
  process.operation->start();
  for (const int local : {0, 1}) {
    std::byte* pool = process.workspace.recv(local).data();
    EXPECT_EQ(started[static_cast<std::size_t>(local)].send, pool + 4 * 10 * (kFirst + local));
    EXPECT_EQ(started[static_cast<std::size_t>(local)].recv, pool + 4 * 5);
  }
}

TEST(LocalRanks, AreToldTheirSeats) {
  Mover collective;
  Process process(collective, true, 1, 4);
  (void)process.operation->check(1);
  ASSERT_EQ(collective.participants.size(), 2U);
  for (const int local : {0, 1}) {
    const Participant& self = collective.participants[static_cast<std::size_t>(local)];
    EXPECT_EQ(self.rank, kFirst + local);
    EXPECT_EQ(self.ranks, kRanks);
    EXPECT_EQ(self.root, 4);
    EXPECT_TRUE(self.in_place);
    EXPECT_EQ(self.element_bytes, 4U);
  }
}

TEST(LocalRanks, HaveTheirOwnExchange) {
  Mover collective;
  collective.has_exchange = true;
  std::vector<std::uint64_t> counts;
  collective.started = [&](const Operands& operands) { counts.push_back(operands.counts->send_counts.front()); };
  Process process(collective);
  process.operation->start();
  EXPECT_EQ(counts, (std::vector<std::uint64_t>{kFirst, kFirst + 1}));
}

/// (stage, rank, groups begun, groups ended) of each call.
using StagedCall = std::tuple<int, int, int, int>;

TEST(Stages, AreEachStartedOnAllRanksAndLaunchedBeforeTheNext) {
  Mover collective(3);
  std::vector<StagedCall> calls;
  Process* running = nullptr;
  collective.started = [&](const Operands& operands) {
    calls.emplace_back(operands.stage, operands.rank, running->session.groups_begun, running->session.groups_ended);
  };
  Process process(collective, false, 2);
  running = &process;
  process.operation->prepare(1);
  process.operation->start();
  EXPECT_EQ(calls, (std::vector<StagedCall>{
                       {0, 2, 1, 0}, {0, 3, 1, 0}, {1, 2, 2, 1}, {1, 3, 2, 1}, {2, 2, 3, 2}, {2, 3, 3, 2}}));
  calls.clear();
  process.operation->start_iteration();
  ASSERT_EQ(calls.size(), 12U) << "two operations of three stages on two ranks";
  for (const auto& [stage, rank, begun, ended] : calls) EXPECT_EQ(begun, ended + 1) << "no group around stages";
}

TEST(Aggregates, OfOneStageAreOneGroup) {
  Mover collective;
  std::vector<StagedCall> calls;
  Process* running = nullptr;
  collective.started = [&](const Operands& operands) {
    calls.emplace_back(operands.stage, operands.rank, running->session.groups_begun, running->session.groups_ended);
  };
  Process process(collective, false, 3);
  running = &process;
  process.operation->prepare(3);
  process.operation->start_iteration();
  ASSERT_EQ(calls.size(), 6U);
  for (const auto& [stage, rank, begun, ended] : calls) EXPECT_EQ(begun, ended + 2) << "one group around them all";
  EXPECT_EQ(process.session.groups_begun, process.session.groups_ended);
}

}  // namespace local_ranks_test
