#include "common/core/traffic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "common/core/error.h"

using namespace fabricbench;

namespace traffic_test {

constexpr Bytes kElementSizes[] = {1, 2, 4, 8};

std::uint64_t sum(const std::vector<std::uint64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

/// What every rank finds for its peers fits together, and lies one behind the other.
void expect_consistent(const Traffic& traffic, int ranks, Bytes part_bytes, Bytes element_bytes) {
  std::vector<AllToAllVCounts> all;
  for (int rank = 0; rank < ranks; ++rank) all.push_back(traffic.counts(rank, ranks, part_bytes, element_bytes));
  std::uint64_t busiest = 0;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const AllToAllVCounts& own = all[rank];
    ASSERT_EQ(own.send_counts.size(), all.size());
    ASSERT_EQ(own.recv_offsets.size(), all.size());
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    for (std::size_t peer = 0; peer < all.size(); ++peer) {
      EXPECT_EQ(own.send_counts[peer], all[peer].recv_counts[rank]) << rank << " to " << peer;
      EXPECT_EQ(own.send_offsets[peer], sent);
      EXPECT_EQ(own.recv_offsets[peer], received);
      EXPECT_EQ(own.send_counts[peer] * element_bytes % 16, 0U) << "whole 16 bytes";
      sent += own.send_counts[peer];
      received += own.recv_counts[peer];
    }
    busiest = std::max({busiest, sent, received});
  }
  for (const AllToAllVCounts& own : all) EXPECT_EQ(own.busiest, busiest);
}

TEST(TrafficByDistance, FitsTogetherOnAllRanks) {
  for (const double spread : {0.0, 0.25, 0.5, 1.0}) {
    for (const int ranks : {1, 2, 3, 4, 5, 8, 17}) {
      for (const Bytes element : kElementSizes) {
        for (const Bytes part : {Bytes{0}, Bytes{16}, Bytes{48}, Bytes{1000}, Bytes{1} << 20}) {
          SCOPED_TRACE(testing::Message() << "spread " << spread << ", " << ranks << " ranks, part " << part);
          expect_consistent(Traffic(spread), ranks, part, element);
        }
      }
    }
  }
}

TEST(TrafficByDistance, OfSpread0GivesEveryRankAsMuch) {
  const Traffic traffic(0);
  for (int from = 0; from < 5; ++from) {
    for (int to = 0; to < 5; ++to) EXPECT_EQ(traffic.elements(from, to, 5, 1 << 20, 4), (1U << 20) / 4);
  }
}

/// nccl-tests: what is sent grows with the distance, from nothing to itself, and all of it is the message.
TEST(TrafficByDistance, OfSpread1GrowsWithTheDistance) {
  const Traffic traffic;
  constexpr Bytes kPart = 6000 * 16;
  for (int from = 0; from < 4; ++from) {
    EXPECT_EQ(traffic.elements(from, from, 4, kPart, 1), 0U);
    for (int distance = 1; distance < 4; ++distance) {
      EXPECT_EQ(traffic.elements(from, (from + distance) % 4, 4, kPart, 1), kPart * 4 * distance / 6);
    }
  }
}

TEST(TrafficByDistance, OfSpreadOneHalfIsTheMeanOfBoth) {
  constexpr Bytes kPart = 6000 * 16;
  for (int to = 0; to < 4; ++to) {
    const std::uint64_t even = Traffic(0).elements(0, to, 4, kPart, 4);
    const std::uint64_t steep = Traffic(1).elements(0, to, 4, kPart, 4);
    EXPECT_EQ(Traffic(0.5).elements(0, to, 4, kPart, 4), (even + steep) / 2);
  }
}

TEST(TrafficByDistance, NeverAsksForMoreThanTheMessageNorForMuchLess) {
  for (const double spread : {0.0, 0.3, 0.5, 1.0}) {
    for (const int ranks : {1, 2, 3, 5, 16, 100}) {
      for (const Bytes part : {Bytes{16}, Bytes{160}, Bytes{4096}, Bytes{1} << 30}) {
        const AllToAllVCounts counts = Traffic(spread).counts(0, ranks, part, 8);
        const Bytes message = part * static_cast<Bytes>(ranks);
        EXPECT_LE(sum(counts.send_counts) * 8, message);
        EXPECT_GT(sum(counts.send_counts) * 8 + 16 * static_cast<Bytes>(ranks) + 1, message) << "16 bytes a peer";
        EXPECT_EQ(sum(counts.send_counts), sum(counts.recv_counts));
      }
    }
  }
}

TEST(TrafficByDistance, OfOneRankIsItsWholeMessage) {
  EXPECT_EQ(Traffic(1).elements(0, 0, 1, 4096, 4), 1024U);
  EXPECT_EQ(Traffic(0).elements(0, 0, 1, 4096, 4), 1024U);
}

TEST(TrafficMatrix, SaysWhoSendsHowMuchWhateverTheMessage) {
  const Traffic traffic("0 160 320\n16 32 48\n\n  1600\t0 64 \r\n", 1);
  EXPECT_EQ(traffic.ranks(), 3U);
  for (const Bytes part : {Bytes{0}, Bytes{1} << 20}) {
    EXPECT_EQ(traffic.elements(0, 1, 3, part, 1), 160U);
    EXPECT_EQ(traffic.elements(0, 2, 3, part, 4), 80U);
    EXPECT_EQ(traffic.elements(1, 0, 3, part, 8), 2U);
    EXPECT_EQ(traffic.elements(2, 0, 3, part, 2), 800U);
    EXPECT_EQ(traffic.elements(2, 1, 3, part, 2), 0U);
  }
  for (const Bytes element : kElementSizes) expect_consistent(traffic, 3, 0, element);
  EXPECT_EQ(traffic.counts(1, 3, 0, 1).busiest, 1664U) << "what rank 2 sends";
}

TEST(TrafficMatrix, OfMoreRanksThanThereAreGivesTheFirstRanksTheirs) {
  const Traffic traffic("16 32 48 64\n80 96 112 128\n0 0 0 0\n0 0 0 0", 1);
  const AllToAllVCounts counts = traffic.counts(1, 2, 0, 16 / 4);
  EXPECT_EQ(counts.send_counts, (std::vector<std::uint64_t>{20, 24}));
  EXPECT_EQ(counts.recv_counts, (std::vector<std::uint64_t>{8, 24}));
}

TEST(TrafficMatrix, IsScaledAndThenCutToWholeSixteenBytes) {
  const Traffic traffic("10 20.5\n1e3 0", 3);
  EXPECT_EQ(traffic.elements(0, 0, 2, 0, 1), 16U) << "30 bytes";
  EXPECT_EQ(traffic.elements(0, 1, 2, 0, 1), 48U) << "61.5 bytes";
  EXPECT_EQ(traffic.elements(1, 0, 2, 0, 1), 2992U) << "3000 bytes";
  EXPECT_EQ(Traffic("100", 0.5).elements(0, 0, 1, 0, 1), 48U);
  EXPECT_EQ(Traffic("100", 0).elements(0, 0, 1, 0, 1), 0U);
}

TEST(TrafficMatrix, OfOneCellOrWithoutALastLineBreakIsRead) {
  EXPECT_EQ(Traffic("64", 1).ranks(), 1U);
  EXPECT_EQ(Traffic("\n\n0 0\n0 0", 1).ranks(), 2U);
}

std::string refusal(const std::string& matrix, double scale = 1) {
  try {
    (void)Traffic(matrix, scale);
  } catch (const UsageError& error) {
    return error.what();
  }
  ADD_FAILURE() << "not refused: " << matrix;
  return "";
}

TEST(TrafficMatrix, RefusesWhatIsNoSquareOfNumbersAndNamesTheLine) {
  const struct {
    std::string matrix;
    std::vector<std::string> named;
  } cases[] = {{"", {"0 rows"}},
               {" \n\t\n", {"0 rows"}},
               {"1 2\n3", {"line 2", "1 columns", "2"}},
               {"1\n\n2 3\n", {"line 3"}},
               {"1 2 3\n4 5 6", {"2 rows of 3 columns", "square"}},
               {"1\n2", {"2 rows of 1 columns"}},
               {"1 2\n3 -4", {"line 2", "'-4'"}},
               {"1 nan\n3 4", {"line 1", "'nan'"}},
               {"1 inf\n3 4", {"line 1", "'inf'"}},
               {"1 2\nx 4", {"line 2", "'x'"}},
               {"1 2\n3 4K", {"line 2", "'4K'"}},
               {"1,2\n3,4", {"line 1", "'1,2'"}},
               {"1e400", {"line 1", "'1e400'"}},
               {"1e300", {"line 1", "too many"}}};
  for (const auto& [matrix, named] : cases) {
    const std::string message = refusal(matrix);
    for (const std::string& part : named) EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

TEST(TrafficMatrix, RefusesMoreThanThereIsRoomToCount) {
  EXPECT_NE(refusal("1e12", 1e12).find("too many"), std::string::npos);
  // Each cell can be counted, and what a rank sends or receives in all cannot.
  const std::string large = "4611686018427387904";
  EXPECT_NE(refusal(large + " " + large + "\n0 0").find("rank 0"), std::string::npos);
  EXPECT_NE(refusal("0 " + large + "\n0 " + large).find("rank 1"), std::string::npos);
  EXPECT_EQ(Traffic(large, 1).ranks(), 1U);
}

}  // namespace traffic_test
