#include "common/engine/case_list.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/programs/run_program.h"
#include "fake_session.h"

using namespace fabricbench;

namespace case_list_test {

using Notices = std::vector<std::string>;

const LibrarySessions kSessions;

/// Ranks share the message in parts, as all_gather's do, unless it is told otherwise.
class FakeCollective final : public Collective {
 public:
  explicit FakeCollective(TestTraits traits = {.name = "fake"}) : Collective(std::move(traits)) {}
  [[nodiscard]] Layout layout(Request request, int ranks) const override {
    if (!traits().moves_data) return {};
    const std::uint64_t part = shares ? part_of(request, ranks) : request.elements;
    const std::uint64_t all = shares ? part * static_cast<std::uint64_t>(ranks) : part;
    return {.send_count = part, .recv_count = all, .count = part};
  }
  [[nodiscard]] double bus_factor(int) const override { return 1; }
  [[nodiscard]] std::optional<InPlace> in_place(const Layout&, const Participant&) const override {
    return with_in_place ? std::optional(InPlace{}) : std::nullopt;
  }
  [[nodiscard]] std::vector<ExpectedBlock> expected(const Layout&, const Participant&) const override { return {}; }
  void start(Backend&, const Operands&) const override {}

  bool shares = true;
  bool with_in_place = true;
};

/// Cannot do fp8, nor mulsum.
class PoorSession final : private test::IdleBackend, public test::HostSession {
 public:
  PoorSession() : HostSession(*static_cast<Backend*>(this)) {}
  [[nodiscard]] std::string why_not(DataType type, Reduction reduction) const override {
    if (facts(type).size == 1 && facts(type).floating) return "it has no fp8";
    return reduction == Reduction::kMulSum ? "it has no mulsum" : "";
  }
};

Options options_of(Bytes first, Bytes last, Bytes step) {
  Options options;
  options.sizes = {first, last, step, 1};
  return options;
}

std::vector<Bytes> sizes_of(const CaseList& list) {
  std::vector<Bytes> sizes;
  for (const Case& which : list.cases) {
    if (!which.in_place) sizes.push_back(which.size);
  }
  return sizes;
}

using Sizes = std::vector<Bytes>;
constexpr Combination kFloats{DataType::kFloat, Reduction::kNone, -1};

TEST(ListCases, HasEverySizeInBothPlacements) {
  FakeCollective collective;
  collective.shares = false;
  const CaseList list =
      list_cases(collective, kSessions, options_of(64, 128, 64), {{3}, 0}, {DataType::kHalf, Reduction::kMax, 2});
  ASSERT_EQ(list.cases.size(), 4U);
  EXPECT_TRUE(list.skipped.empty());
  for (std::size_t i = 0; i < list.cases.size(); ++i) {
    const Case& which = list.cases[i];
    EXPECT_EQ(which.size, i < 2 ? 64U : 128U);
    EXPECT_EQ(which.layout.count, which.size / 2);
    EXPECT_EQ(which.in_place, i % 2 == 1) << "out of place first";
    EXPECT_EQ(which.datatype, DataType::kHalf);
    EXPECT_EQ(which.reduction, Reduction::kMax);
    EXPECT_EQ(which.root, 2);
  }
}

TEST(ListCases, HasThePlacementAskedFor) {
  const FakeCollective collective;
  Options options = options_of(64, 64, 0);
  options.placement = Placement::kIn;
  const CaseList in = list_cases(collective, kSessions, options, {{2}, 0}, kFloats);
  ASSERT_EQ(in.cases.size(), 1U);
  EXPECT_TRUE(in.cases.front().in_place);
  options.placement = Placement::kOut;
  const CaseList out = list_cases(collective, kSessions, options, {{2}, 0}, kFloats);
  ASSERT_EQ(out.cases.size(), 1U);
  EXPECT_FALSE(out.cases.front().in_place);
}

TEST(ListCases, CutsSizesToWhatRanksCanShareAndListsEachOnce) {
  const FakeCollective collective;
  // Three ranks share in parts of 16 bytes, so sizes are multiples of 48.
  EXPECT_EQ(sizes_of(list_cases(collective, kSessions, options_of(48, 150, 16), {{3}, 0}, kFloats)),
            (Sizes{48, 96, 144}));
  EXPECT_EQ(sizes_of(list_cases(collective, kSessions, options_of(64, 96, 16), {{1}, 0}, kFloats)),
            (Sizes{64, 80, 96}));
}

TEST(ListCases, SkipsSizesOfWhichNothingIsLeftAndSaysWhy) {
  const FakeCollective collective;
  const CaseList list =
      list_cases(collective, kSessions, options_of(16, 80, 16), {{4}, 0}, {DataType::kInt8, Reduction::kNone, 1});
  EXPECT_EQ(sizes_of(list), (Sizes{64}));
  ASSERT_EQ(list.skipped.size(), 3U) << "16, 32 and 48 bytes";
  for (std::size_t i = 0; i < list.skipped.size(); ++i) {
    const Row& row = list.skipped[i];
    EXPECT_EQ(row.size, 16 * (i + 1));
    EXPECT_EQ(row.skipped, "4 ranks share it in parts of 16 bytes, which takes 64 bytes at least");
    EXPECT_FALSE(row.out_of_place || row.in_place);
    EXPECT_EQ(row.datatype, DataType::kInt8);
    EXPECT_EQ(row.root, 1);
  }
}

TEST(ListCases, MeasuresASizeOfNothingWhereItIsAskedFor) {
  const FakeCollective collective;
  const CaseList list = list_cases(collective, kSessions, options_of(0, 0, 0), {{4}, 0}, kFloats);
  EXPECT_EQ(sizes_of(list), (Sizes{0}));
  EXPECT_TRUE(list.skipped.empty());
}

/// Groups decide alike, each for its own number of ranks: what is too small for one is skipped by all.
TEST(ListCases, OfUnlikeGroupsHasAsManyCasesForEach) {
  const FakeCollective collective;
  for (const auto& options : {options_of(16, 200, 8), options_of(48, 96, 16)}) {
    const CaseList first = list_cases(collective, kSessions, options, {{2, 3}, 0}, kFloats);
    const CaseList second = list_cases(collective, kSessions, options, {{2, 3}, 1}, kFloats);
    EXPECT_EQ(first.cases.size(), second.cases.size());
    ASSERT_EQ(first.skipped.size(), second.skipped.size());
    for (std::size_t i = 0; i < first.skipped.size(); ++i) {
      EXPECT_EQ(first.skipped[i].size, second.skipped[i].size);
      EXPECT_EQ(first.skipped[i].skipped, second.skipped[i].skipped) << "the first group for which it is too small";
    }
    for (const Case& which : first.cases) EXPECT_EQ(which.size % 32, 0U);
    for (const Case& which : second.cases) EXPECT_EQ(which.size % 48, 0U);
  }
  const Options options = options_of(48, 96, 16);
  EXPECT_EQ(sizes_of(list_cases(collective, kSessions, options, {{2, 3}, 0}, kFloats)), (Sizes{32, 64, 96}));
  EXPECT_EQ(sizes_of(list_cases(collective, kSessions, options, {{2, 3}, 1}, kFloats)), (Sizes{48, 48, 96}))
      << "what is one for all groups is left out, and what is unlike for one of them stays";
}

TEST(ListCombinations, AreThoseAskedForInOrder) {
  FakeCollective collective({.name = "fake", .reduces = true});
  Options options;
  options.datatypes = {DataType::kInt8, DataType::kDouble};
  options.reductions = {Reduction::kSum, Reduction::kMax};
  Notices notices;
  const PoorSession session;
  const auto list = list_combinations(collective, options, session, 4, notices);
  ASSERT_EQ(list.size(), 4U);
  EXPECT_EQ(list[0].datatype, DataType::kInt8);
  EXPECT_EQ(list[1].datatype, DataType::kInt8);
  EXPECT_EQ(list[1].reduction, Reduction::kMax);
  EXPECT_EQ(list[2].datatype, DataType::kDouble);
  EXPECT_EQ(list[2].reduction, Reduction::kSum);
  for (const Combination& which : list) EXPECT_EQ(which.root, -1) << "it has no root";
  EXPECT_TRUE(notices.empty());
}

TEST(ListCombinations, HaveTheRootOrAllRoots) {
  FakeCollective collective({.name = "fake", .has_root = true});
  Options options;
  options.root = 2;
  Notices notices;
  const PoorSession session;
  const auto one = list_combinations(collective, options, session, 4, notices);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one.front().root, 2);
  EXPECT_EQ(one.front().reduction, Reduction::kNone);
  options.root = kAllRoots;
  const auto all = list_combinations(collective, options, session, 4, notices);
  ASSERT_EQ(all.size(), 4U);
  for (int root = 0; root < 4; ++root) EXPECT_EQ(all[static_cast<std::size_t>(root)].root, root);
}

TEST(ListCombinations, LeaveOutWhatTheLibraryDoesNotHaveAndSaySoOnce) {
  FakeCollective collective({.name = "fake", .reduces = true});
  Options options;
  options.datatypes = {DataType::kFloat, DataType::kF8e4m3, DataType::kF8e5m2};
  options.reductions = {Reduction::kSum, Reduction::kMulSum};
  Notices notices;
  const PoorSession session;
  const auto list = list_combinations(collective, options, session, 2, notices);
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list.front().datatype, DataType::kFloat);
  EXPECT_EQ(list.front().reduction, Reduction::kSum);
  EXPECT_EQ(notices, (Notices{"Left out: it has no mulsum", "Left out: it has no fp8"}));
}

TEST(ListCombinations, RefuseWhereNothingIsLeft) {
  const FakeCollective collective;
  Options options;
  options.datatypes = {DataType::kF8e4m3};
  Notices notices;
  const PoorSession session;
  try {
    (void)list_combinations(collective, options, session, 2, notices);
    ADD_FAILURE() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kMissing);
    EXPECT_STREQ(error.what(), "it has no fp8; choose another with --datatype or --op");
  }
}

/// By key and name.
Options given(std::vector<GivenOption> given) {
  Options options = options_of(8, 1024, 8);
  options.given = std::move(given);
  return options;
}

TEST(AdaptOptions, SayWhatWasGivenInVain) {
  FakeCollective barrier({.name = "fake", .moves_data = false});
  Options options = given({{"minbytes", "-b"}, {"datatype", "-d"}, {"op", "-o"}, {"root", "-r"}, {"iters", "-n"}});
  options.datatypes = {DataType::kHalf, DataType::kInt8};
  options.root = 7;
  Notices notices;
  adapt_options(barrier, options, notices);
  EXPECT_EQ(notices, (Notices{"Not used: -b, -d, since a fake carries no data",
                              "Not used: -o, since fake reduces nothing", "Not used: -r, since fake has no root"}));
  EXPECT_EQ(options.sizes.max_bytes, 0U);
  EXPECT_EQ(options.datatypes, std::vector{DataType::kFloat}) << "one run of nothing";
  EXPECT_EQ(options.root, 0) << "a root in vain must not be refused later";
}

TEST(AdaptOptions, SayNothingOfWhatIsUsedOrWasNotGiven) {
  FakeCollective collective;
  Notices notices;
  Options options = given({{"minbytes", "-b"}, {"datatype", "-d"}});
  adapt_options(collective, options, notices);
  const FakeCollective rooted({.name = "fake", .reduces = true, .has_root = true});
  options = given({{"minbytes", "-b"}, {"op", "-o"}, {"root", "-r"}});
  options.root = 3;
  adapt_options(rooted, options, notices);
  EXPECT_TRUE(notices.empty());
  EXPECT_EQ(options.root, 3);
  EXPECT_EQ(options.sizes.min_bytes, 8U);
  EXPECT_EQ(options.placement, Placement::kBoth);
}

TEST(AdaptOptions, SayWhatOtherOptionsMakeUseless) {
  Options options = given({{"seed", "--seed"}, {"label", "--label"}});
  options.given.front().why_unused = [](const Options&) { return "sizes are measured in order"; };
  Notices notices;
  adapt_options(FakeCollective(), options, notices);
  EXPECT_EQ(notices, Notices{"Not used: --seed, since sizes are measured in order"});
}

TEST(AdaptOptions, SayHowSizesFollowEachOther) {
  const FakeCollective collective({.name = "fake", .row_kind = RowKind::kCollective});
  const auto notices_of = [&](std::vector<GivenOption> keys, SizeRange sizes) {
    Options options = given(std::move(keys));
    options.sizes = sizes;
    Notices notices;
    adapt_options(collective, options, notices);
    return notices;
  };
  const SizeRange doubling{8, 1024, 1 << 20, 2};
  EXPECT_EQ(notices_of({}, doubling), Notices{"Sizes double; for nccl-tests' steps of 1 MiB add -i 1M"});
  EXPECT_EQ(notices_of({{"stepfactor", "-f"}}, doubling), Notices{});
  EXPECT_EQ(notices_of({}, {8, 8, 1 << 20, 2}), Notices{}) << "one size";
  EXPECT_EQ(notices_of({{"stepbytes", "-i"}}, {8, 1024, 8, 1}), Notices{});
  EXPECT_EQ(notices_of({{"stepbytes", "-i"}, {"stepfactor", "-f"}}, doubling),
            Notices{"Not used: -i, since -f gives a factor between sizes"});
}

TEST(AdaptOptions, LeaveOnePlacementWhereThereIsNoOther) {
  FakeCollective collective;
  collective.with_in_place = false;
  Notices notices;
  Options options = given({});
  adapt_options(collective, options, notices);
  EXPECT_EQ(options.placement, Placement::kOut);
  options.placement = Placement::kIn;
  try {
    adapt_options(collective, options, notices);
    ADD_FAILURE() << "not refused";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "fake has no in-place form; leave out --placement in");
  }
}

}  // namespace case_list_test
