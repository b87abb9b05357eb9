#include "common/measure/operation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fake_session.h"

using namespace fabricbench;

namespace operation_test {

constexpr int kRanks = 3;
constexpr int kRank = 1;

/// An all-reduce as rank 1 of 3 sees it: what the others would send is known, so the result is written at once.
class FakeBackend final : public test::IdleBackend {
 public:
  explicit FakeBackend(Bytes pool_bytes) : pool_bytes_(pool_bytes) {}

  void all_reduce(const void* send, void* recv, std::size_t count, DataType datatype, Reduction reduction) override {
    ++starts;
    places.insert(recv);
    if (no_op) return;
    if (reply) {
      reply(static_cast<const std::byte*>(send), static_cast<std::byte*>(recv), count * facts(datatype).size);
      return;
    }
    // Each input element says by its place in the pool which one it is; so find the place by comparing.
    const std::size_t element = facts(datatype).size;
    const auto* input = static_cast<const std::byte*>(send);
    const PatternTable own = PatternTable::sent(datatype, reduction, kRank, kRanks);
    const PatternTable result = PatternTable::reduced(datatype, reduction, kRanks);
    const std::uint64_t stride = count;
    for (std::uint64_t position = 0; position <= pool_bytes_ / element;
         position += std::max<std::uint64_t>(stride, 1)) {
      if (own.check({input, count * element}, {position})) continue;
      result.fill({static_cast<std::byte*>(recv), count * element}, {position});
      if (spoil) spoil(static_cast<std::byte*>(recv), count * element);
      return;
    }
    ++garbage_in;
  }

  bool no_op = false;
  std::function<void(std::byte*, std::size_t)> spoil;  ///< does to the result what a broken library would
  std::function<void(const std::byte*, std::byte*, std::size_t)> reply;  ///< takes the place of the operation
  int starts = 0;
  int garbage_in = 0;  ///< operations whose input was no stretch of the pattern
  std::set<void*> places;

 private:
  Bytes pool_bytes_;
};

/// All-reduce, or a gather-like operation whose halves come from ranks 2 and 1.
class FakeCollective final : public Collective {
 public:
  explicit FakeCollective(bool blocks = false) : Collective({.name = "fake", .reduces = !blocks}), blocks_(blocks) {}
  [[nodiscard]] Layout layout(Request request, int /*ranks*/) const override {
    return {request.elements, request.elements, request.elements};
  }
  [[nodiscard]] double bus_factor(int /*ranks*/) const override { return 1; }
  [[nodiscard]] std::optional<InPlace> in_place(const Layout&, const Participant&) const override { return InPlace{}; }
  [[nodiscard]] std::vector<ExpectedBlock> expected(const Layout& layout, const Participant& /*self*/) const override {
    if (!blocks_) return {{0, layout.recv_count, ExpectedBlock::kReduced, 0}};
    const std::uint64_t half = layout.recv_count / 2;
    return {{0, half, 2, 0}, {half, layout.recv_count - half, kRank, 5}};
  }
  void start(Backend& backend, const Operands& operands) const override {
    collectives(backend).all_reduce(operands.send, operands.recv, operands.count, operands.datatype,
                                    operands.reduction);
  }

 private:
  bool blocks_;
};

/// A case on buffers of its own.
struct Bench {
  static constexpr std::uint64_t kElements = 1000;

  explicit Bench(bool in_place = false, BufferPolicy policy = BufferPolicy::kSame, DataType type = DataType::kFloat,
                 std::uint64_t elements = kElements, std::int64_t unalign = 0, bool blocks = false)
      : collective(blocks),
        pool(10 * kElements * facts(type).size + 8),
        backend(pool),
        session(backend),
        workspace(session, pool, true, unalign, {.first = kRank, .local = 1, .all = kRanks}),
        which{elements * facts(type).size,
              collective.layout({elements, facts(type).size}, kRanks),
              type,
              blocks ? Reduction::kNone : Reduction::kSum,
              -1,
              in_place} {
    workspace.use(type, which.reduction);
    operation.emplace(collective, session, workspace, which, policy);
  }

  std::optional<Mismatch> run(std::int64_t starts = 1) {
    operation->prepare(starts);
    for (std::int64_t i = 0; i < starts; ++i) operation->start();
    operation->wait();
    const auto wrong = operation->check(starts);
    if (!wrong) return std::nullopt;
    EXPECT_EQ(wrong->rank, kRank);
    EXPECT_EQ(wrong->ranks, 1);
    EXPECT_EQ(wrong->elements, wrong->first.count);
    return wrong->first;
  }

  FakeCollective collective;
  Bytes pool;
  FakeBackend backend;
  test::HostSession session;
  Workspace workspace;
  Case which;
  std::optional<Operation> operation;
};

TEST(Operation, OfAGoodLibraryPassesInEveryPlaceAndPolicy) {
  for (const DataTypeFacts& type : kDataTypes) {
    for (const BufferPolicy policy : {BufferPolicy::kSame, BufferPolicy::kRotate, BufferPolicy::kCold}) {
      for (const std::int64_t unalign : {0, 3}) {
        for (const std::int64_t starts : {1, 2, 3, 10, 11, 25}) {
          Bench out(false, policy, type.type, Bench::kElements, unalign);
          const auto wrong = out.run(starts);
          EXPECT_FALSE(wrong) << type.name << ": " << wrong->first_offset << " " << wrong->expected << " "
                              << wrong->got;
          EXPECT_EQ(out.backend.garbage_in, 0);
        }
        Bench in(true, policy, type.type, Bench::kElements, unalign);
        EXPECT_FALSE(in.run()) << type.name;
        EXPECT_EQ(in.backend.garbage_in, 0);
      }
    }
  }
}

TEST(Operation, MayBeRepeated) {
  Bench bench(false, BufferPolicy::kRotate);
  for (int round = 0; round < 5; ++round) EXPECT_FALSE(bench.run(round + 1));
  Bench in_place(true);
  for (int round = 0; round < 5; ++round) EXPECT_FALSE(in_place.run()) << "input must be made anew";
}

TEST(Operation, ThatGivesOtherBitsTheSecondTimeIsNotRepeatable) {
  for (const bool in_place : {false, true}) {
    constexpr std::uint64_t kInTwoParts = 10000;
    Bench bench(in_place, BufferPolicy::kSame, DataType::kDouble, kInTwoParts);
    std::vector<std::vector<std::byte>> inputs;
    bool differ = false;
    bench.backend.reply = [&](const std::byte* send, std::byte* recv, std::size_t bytes) {
      inputs.emplace_back(send, send + bytes);
      std::memmove(recv, send, bytes);
      if (differ && inputs.size() % 2 == 0) recv[bytes - 1] ^= std::byte{1};
    };
    EXPECT_FALSE(bench.operation->repeat());
    ASSERT_EQ(inputs.size(), 2U);
    EXPECT_EQ(inputs[0], inputs[1]);
    differ = true;
    const auto found = bench.operation->repeat();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->rank, kRank);
    EXPECT_EQ(found->ranks, 1);
    EXPECT_EQ(found->first_offset, (64U << 10) / sizeof(double));
    EXPECT_EQ(found->elements, kInTwoParts - found->first_offset);
    bench.backend.reply = nullptr;
    EXPECT_FALSE(bench.run()) << "the pattern is sent again";
  }
}

TEST(Operation, ExpectsBitsOfBothValues) {
  EXPECT_EQ(share_of_both(Bench().operation->expected_bits().flags()), 1);
  EXPECT_EQ(share_of_both(Bench(false, BufferPolicy::kSame, DataType::kFloat, 1).operation->expected_bits().flags()),
            0);
  Bench blocks(false, BufferPolicy::kSame, DataType::kInt64, Bench::kElements, 0, true);
  EXPECT_EQ(share_of_both(blocks.operation->expected_bits().flags()), 1);
}

TEST(Operation, GoesThroughTheBuffersThatThePolicyNames) {
  const auto places = [](BufferPolicy policy, std::int64_t starts) {
    Bench bench(false, policy);
    (void)bench.run(starts);
    return bench.backend.places.size();
  };
  EXPECT_EQ(places(BufferPolicy::kSame, 25), 1U);
  EXPECT_EQ(places(BufferPolicy::kRotate, 4), 4U);
  EXPECT_EQ(places(BufferPolicy::kRotate, 25), 10U);
  EXPECT_EQ(places(BufferPolicy::kCold, 25), 10U);
}

TEST(Operation, InPlaceSendsAndReceivesInOneBuffer) {
  Bench bench(true);
  (void)bench.run();
  EXPECT_EQ(*bench.backend.places.begin(), bench.workspace.recv(0).data());
  Bench out;
  (void)out.run();
  EXPECT_EQ(*out.backend.places.begin(), out.workspace.recv(0).data());
  EXPECT_NE(out.workspace.recv(0).data(), out.workspace.send(0).data());
}

TEST(Operation, KnowsWhenItsResultIsDefined) {
  EXPECT_TRUE(Bench(false).operation->last_result_is_defined(100));
  EXPECT_TRUE(Bench(true).operation->last_result_is_defined(1));
  EXPECT_FALSE(Bench(true).operation->last_result_is_defined(2));
}

TEST(Operation, OfZeroBytesPassesAndStillGuards) {
  for (const bool in_place : {false, true}) {
    for (const BufferPolicy policy : {BufferPolicy::kSame, BufferPolicy::kRotate, BufferPolicy::kCold}) {
      Bench bench(in_place, policy, DataType::kFloat, 0);
      EXPECT_FALSE(bench.run(3));
      bench.backend.spoil = [](std::byte* recv, std::size_t) { recv[0] = std::byte{0}; };
      EXPECT_TRUE(bench.run(3)) << "one byte written by an operation of none";
    }
  }
}

TEST(Operation, IsPreparedWithPoisonWhereItWillWriteAndAGuardBehind) {
  Bench bench(false, BufferPolicy::kRotate);
  bench.operation->prepare(3);
  const std::size_t size = bench.which.size;
  const auto holds = [&](std::size_t begin, std::size_t length, int value) {
    const auto part = bench.workspace.recv(0).subspan(begin, length);
    return std::all_of(part.begin(), part.end(), [=](std::byte byte) { return std::to_integer<int>(byte) == value; });
  };
  EXPECT_TRUE(holds(2 * size, size, pattern::kPoisonByte));
  EXPECT_TRUE(holds(3 * size, kGuardBytes, pattern::kGuardByte));
}

TEST(Operation, ThatDoesNothingIsFound) {
  for (const bool in_place : {false, true}) {
    for (const BufferPolicy policy : {BufferPolicy::kSame, BufferPolicy::kRotate}) {
      Bench bench(in_place, policy);
      bench.backend.no_op = true;
      const auto wrong = bench.run();
      ASSERT_TRUE(wrong);
      EXPECT_GT(wrong->count, Bench::kElements / 2);
    }
  }
}

TEST(Operation, ThatStopsWorkingIsNotSavedByAnEarlierResult) {
  Bench bench;
  EXPECT_FALSE(bench.run());
  bench.backend.no_op = true;
  const auto wrong = bench.run(7);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->count, Bench::kElements);
  Bench rotating(false, BufferPolicy::kRotate);
  EXPECT_FALSE(rotating.run(25));
  rotating.backend.no_op = true;
  EXPECT_EQ(rotating.run(25)->count, Bench::kElements);
}

TEST(Operation, WithAnUnwrittenTailIsFound) {
  Bench bench;
  bench.backend.spoil = [](std::byte* recv, std::size_t bytes) {
    std::memset(recv + bytes - 40, pattern::kPoisonByte, 40);
  };
  const auto wrong = bench.run();
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->count, 10U);
  EXPECT_EQ(wrong->first_offset, Bench::kElements - 10);
}

TEST(Operation, WithSwappedHalvesIsFound) {
  for (const bool in_place : {false, true}) {
    Bench bench(in_place);
    bench.backend.spoil = [](std::byte* recv, std::size_t bytes) {
      std::swap_ranges(recv, recv + bytes / 2, recv + bytes / 2);
    };
    const auto wrong = bench.run();
    ASSERT_TRUE(wrong);
    EXPECT_GT(wrong->count, Bench::kElements * 9 / 10);
  }
}

TEST(Operation, WithOneWrongElementIsFoundAndNamed) {
  for (const BufferPolicy policy : {BufferPolicy::kSame, BufferPolicy::kRotate}) {
    Bench bench(false, policy, DataType::kInt32);
    bench.backend.spoil = [](std::byte* recv, std::size_t) {
      std::int32_t value = -77;
      std::memcpy(recv + 123 * sizeof value, &value, sizeof value);
    };
    const auto wrong = bench.run(4);
    ASSERT_TRUE(wrong);
    EXPECT_EQ(wrong->count, 1U);
    EXPECT_EQ(wrong->first_offset, 123U) << "counted from the message, not from the pool";
    EXPECT_EQ(wrong->got, "-77");
    const pattern::Shape shape{DataType::kInt32, Reduction::kSum, kRanks};
    const std::uint64_t position = 123 + (policy == BufferPolicy::kRotate ? 3 * Bench::kElements : 0);
    EXPECT_EQ(wrong->expected,
              std::to_string(static_cast<std::int32_t>(pattern::reduced(shape, pattern::slot(position)))));
  }
}

TEST(Operation, ThatDeliversAnotherPlacesResultIsFound) {
  Bench bench(false, BufferPolicy::kRotate);
  const PatternTable table = PatternTable::reduced(DataType::kFloat, Reduction::kSum, kRanks);
  bench.backend.spoil = [&](std::byte* recv, std::size_t bytes) { table.fill({recv, bytes}, {}); };
  EXPECT_FALSE(bench.run(1));
  EXPECT_TRUE(bench.run(2));
}

TEST(Operation, ThatWritesBehindTheMessageIsFoundAndSaid) {
  for (const bool in_place : {false, true}) {
    for (const std::size_t behind : {std::size_t{0}, std::size_t{7}, std::size_t{kGuardBytes - 1}}) {
      Bench bench(in_place);
      bench.backend.spoil = [=](std::byte* recv, std::size_t bytes) { recv[bytes + behind] = std::byte{0x42}; };
      const auto wrong = bench.run();
      ASSERT_TRUE(wrong) << behind;
      EXPECT_EQ(wrong->count, 1U);
      EXPECT_EQ(wrong->first_offset, Bench::kElements + behind / 4);
      EXPECT_EQ(wrong->expected, "nothing written behind the message");
      EXPECT_EQ(wrong->got, "byte 0x42");
    }
  }
}

TEST(Operation, ThatWritesBehindAMessageThatFillsThePoolIsFoundToo) {
  Bench bench(false, BufferPolicy::kSame, DataType::kFloat, 10 * Bench::kElements + 2, 5);
  EXPECT_FALSE(bench.run());
  bench.backend.spoil = [](std::byte* recv, std::size_t bytes) { std::memset(recv + bytes, 0, kGuardBytes); };
  EXPECT_EQ(bench.run()->count, kGuardBytes);
}

TEST(Operation, ReportsWrongDataAndAnOverrunTogether) {
  Bench bench;
  bench.backend.spoil = [](std::byte* recv, std::size_t bytes) {
    recv[3] ^= std::byte{0x80};
    recv[bytes] = std::byte{0};
    recv[bytes + 1] = std::byte{0};
  };
  const auto wrong = bench.run();
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->count, 3U);
  EXPECT_EQ(wrong->first_offset, 0U);
}

TEST(Operation, ChecksBlocksAgainstTheRankTheyComeFrom) {
  Bench bench(false, BufferPolicy::kSame, DataType::kInt64, 1000, 0, true);
  const auto result = [&](std::byte* recv, std::size_t bytes) {
    const PatternTable table = PatternTable::moved(DataType::kInt64, 0);
    table.fill({recv, bytes / 2}, {0, pattern::source_shift(2)});
    table.fill({recv + bytes / 2, bytes / 2}, {5, pattern::source_shift(kRank)});
  };
  bench.backend.spoil = result;
  EXPECT_FALSE(bench.run());
  bench.backend.spoil = [&](std::byte* recv, std::size_t bytes) {
    result(recv, bytes);
    recv[700 * 8] ^= std::byte{1};
    recv[900 * 8] ^= std::byte{1};
  };
  EXPECT_EQ(bench.run()->first_offset, 700U) << "counted from the message, not from the block";
  EXPECT_EQ(bench.run()->count, 2U);
  bench.backend.spoil = [&](std::byte* recv, std::size_t bytes) {
    result(recv, bytes);
    std::swap_ranges(recv, recv + bytes / 2, recv + bytes / 2);
  };
  EXPECT_GT(bench.run()->count, 900U) << "blocks in the wrong order";
}

TEST(Case, IsDescribedInWords) {
  EXPECT_EQ(describe({65536, {}, DataType::kFloat, Reduction::kSum, -1, true}, RowKind::kCollective),
            "64 KiB float sum, in place");
  EXPECT_EQ(describe({0, {}, DataType::kHalf, Reduction::kMax, -1, false}, RowKind::kCollective),
            "0 B half max, out of place");
  EXPECT_EQ(describe({8, {}, DataType::kInt8, Reduction::kNone, 2, false}, RowKind::kCollective),
            "8 B int8 root 2, out of place");
  EXPECT_EQ(describe({4096, {}, DataType::kInt8, Reduction::kNone, -1, false}, RowKind::kLatency), "messages of 4 KiB");
}

}  // namespace operation_test
