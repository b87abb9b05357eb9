// Reductions by MPI: every datatype and reduction that it has against the patterns, whole and cut into several calls.

#include "common/mpi/mpi_backend.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "backend_support.h"

namespace fabricbench::mpi {
namespace {

constexpr std::uint64_t kPosition = 4000;  // so that longer messages cross a period's end

/// What a rank sends, and what all receive.
struct Data {
  Data(const Communicator& world, DataType type, Reduction reduction)
      : sent(PatternTable::sent(type, reduction, world.rank(), world.size())),
        reduced(PatternTable::reduced(type, reduction, world.size())) {}

  PatternTable sent;
  PatternTable reduced;
};

/// A reduction on all ranks of the job.
class Reducing {
 public:
  Reducing(const Communicator& world, MpiBackend& backend, const Data& data, const Example& example)
      : world_(world),
        backend_(backend),
        sent_(data.sent),
        reduced_(data.reduced),
        example_(example),
        ranks_(static_cast<std::size_t>(world.size())) {}

  void all_reduce() {
    run(example_.count, example_.count, [&](const void* send, void* recv) {
      backend_.all_reduce(send, recv, example_.count, example_.type, example_.reduction);
    });
    expect_result(0);
  }

  void reduce() {
    run(example_.count, example_.count, [&](const void* send, void* recv) {
      backend_.reduce(send, recv, example_.count, example_.type, example_.reduction, example_.root);
    });
    if (world_.rank() == example_.root) return expect_result(0);
    if (example_.in_place) return expect_none(sent_.check(recv_->part(0, example_.count), {kPosition}), "its own data");
    EXPECT_TRUE(recv_->is_untouched(0, example_.count)) << "only the root receives";
  }

  /// MPI's in-place form leaves a rank's block at the beginning (Conventions::reduce_scatter_stays_in_block).
  void reduce_scatter() {
    const std::size_t count = example_.count;
    run(count * ranks_, example_.in_place ? count * ranks_ : count, [&](const void* send, void* recv) {
      backend_.reduce_scatter(send, recv, count, example_.type, example_.reduction);
    });
    expect_result(static_cast<std::size_t>(world_.rank()) * count);
  }

 private:
  using Operation = std::function<void(const void* send, void* recv)>;

  void run(std::size_t send_count, std::size_t recv_count, const Operation& operation) {
    Elements send(example_.type, send_count);
    recv_.emplace(example_.type, recv_count);
    Elements& input = example_.in_place ? *recv_ : send;
    sent_.fill(input.part(0, send_count), {kPosition});
    operation(input.at(0), recv_->at(0));
    EXPECT_TRUE(recv_->guards_hold()) << "written outside the message";
    if (!example_.in_place) expect_none(sent_.check(send.part(0, send_count), {kPosition}), "what was sent");
  }

  void expect_result(std::size_t position) {
    expect_none(reduced_.check(recv_->part(0, example_.count), {kPosition + position}), "the result");
  }

  const Communicator& world_;
  MpiBackend& backend_;
  const PatternTable& sent_;
  const PatternTable& reduced_;
  Example example_;
  std::size_t ranks_;
  std::optional<Elements> recv_;
};

void expect_right(const Communicator& world, MpiBackend& backend, const Data& data, Example example) {
  SCOPED_TRACE(describe(example));
  Reducing(world, backend, data, example).all_reduce();
  Reducing(world, backend, data, example).reduce_scatter();
  for (example.root = 0; example.root < world.size(); ++example.root) {
    Reducing(world, backend, data, example).reduce();
  }
}

/// Every datatype and reduction that MPI has, every count, out of place and in place.
void expect_all_right(std::size_t most_per_call, const std::vector<std::size_t>& counts) {
  const Communicator world = Communicator::world();
  MpiBackend backend(world, most_per_call);
  for (const DataType type : supported_types()) {
    for (const Reduction reduction :
         {Reduction::kSum, Reduction::kProd, Reduction::kMin, Reduction::kMax, Reduction::kAvg}) {
      EXPECT_EQ(why_not(type, reduction), "");
      const Data data(world, type, reduction);
      for (const std::size_t count : counts) {
        for (const bool in_place : {false, true}) {
          expect_right(world, backend, data, {type, reduction, count, in_place, -1});
        }
      }
    }
  }
}

TEST(MpiReductions, AreExactForEveryDatatypeAndReduction) {
  // 0 and 1; one below, at and above a power of two; more than a period; no multiple of anything.
  expect_all_right(kAnyCount, {0, 1, 2, 15, 16, 17, 1023, 9'011});
}

TEST(MpiReductions, ByCallsOfOneElement) { expect_all_right(1, {0, 1, 2, 5}); }

TEST(MpiReductions, ByCallsOfSevenElements) { expect_all_right(7, {0, 1, 6, 7, 8, 14, 37}); }

TEST(MpiReductions, ByCallsOfAThousandElements) { expect_all_right(1000, {999, 1000, 1001, 2000, 4567}); }

TEST(MpiReductions, OfNothingTouchNothing) {
  const Communicator world = Communicator::world();
  MpiBackend backend(world);
  collectives(backend).all_reduce(nullptr, nullptr, 0, DataType::kFloat, Reduction::kSum);
  std::byte untouched = kPoison;
  std::byte unread = kPoison;
  collectives(backend).all_reduce(&unread, &untouched, 0, DataType::kDouble, Reduction::kAvg);
  EXPECT_EQ(untouched, kPoison);
}

/// On the last rank one element differs from what it ought to send.
TEST(MpiReductions, OfAWrongContributionAreFoundToBeWrong) {
  const Communicator world = Communicator::world();
  MpiBackend backend(world);
  std::vector<float> values(100);
  PatternTable::sent(DataType::kFloat, Reduction::kSum, world.rank(), world.size())
      .fill(std::as_writable_bytes(std::span(values)), {});
  if (world.rank() == world.size() - 1) values[42] += 1;
  collectives(backend).all_reduce(values.data(), values.data(), values.size(), DataType::kFloat, Reduction::kSum);
  const auto wrong = PatternTable::reduced(DataType::kFloat, Reduction::kSum, world.size())
                         .check(std::as_bytes(std::span(values)), {});
  ASSERT_TRUE(wrong.has_value());
  EXPECT_EQ(wrong->count, 1u);
  EXPECT_EQ(wrong->first_offset, 42u);
}

TEST(MpiBackend, LivesSideBySideWithAnother) {
  const Communicator world = Communicator::world();
  const Example example{DataType::kHalf, Reduction::kSum, 33, false, -1};
  const Data data(world, example.type, example.reduction);
  MpiBackend first(world);
  {
    MpiBackend second(world, 10);
    expect_right(world, second, data, example);
  }
  expect_right(world, first, data, example);  // its reductions are its own
}

TEST(MpiSession, HasOneRankAndNamesTheLibrary) {
  const Communicator world = Communicator::world();
  MpiSession session(world);
  EXPECT_EQ(session.local_ranks(), 1);
  EXPECT_FALSE(session.library().empty());
  EXPECT_EQ(session.device_clock(), nullptr);
  EXPECT_EQ(session.recorder(), nullptr);
  EXPECT_FALSE(session.device_memory());
}

TEST(MpiSession, SaysWhatMpiDoesNotHave) {
  const Communicator world = Communicator::world();
  const MpiSession session(world);
  EXPECT_NE(session.why_not(DataType::kF8e4m3, Reduction::kSum).find("f8e4m3"), std::string::npos);
  EXPECT_NE(session.why_not(DataType::kF8e5m2, Reduction::kNone).find("f8e5m2"), std::string::npos);
  EXPECT_NE(session.why_not(DataType::kFloat, Reduction::kMulSum).find("mulsum"), std::string::npos);
  EXPECT_EQ(session.why_not(DataType::kBfloat16, Reduction::kAvg), "");
  EXPECT_EQ(supported_types().size(), 10u);
}

}  // namespace
}  // namespace fabricbench::mpi
