#include "common/core/names.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace fabricbench {
namespace nearest_names_test {

using Texts = std::vector<std::string>;

Texts nearest(std::string_view given, const Texts& names) {
  std::vector<NearName> known;
  for (const std::string& name : names) known.push_back({name_distance(given, name), name});
  return nearest_names(given, known);
}

TEST(NameDistance, CountsLetters) {
  EXPECT_EQ(name_distance("same", "same"), 0U);
  EXPECT_EQ(name_distance("sane", "same"), 1U);
  EXPECT_EQ(name_distance("smae", "same"), 1U) << "two that are swapped";
  EXPECT_EQ(name_distance("tabel", "table"), 1U);
  EXPECT_EQ(name_distance("asem", "same"), 2U);
  EXPECT_EQ(name_distance("some", "handsome"), 4U);
  EXPECT_EQ(name_distance("", "same"), 4U);
}

TEST(NameDistance, IsSmallToALongerNameThatBeginsLikeIt) {
  EXPECT_EQ(name_distance("check", "check_node_pair"), 1U);
  EXPECT_EQ(name_distance("check_node_pair", "check"), 10U);
  EXPECT_EQ(name_distance("c", "check"), 4U) << "a letter says too little";
}

TEST(NearestNames, AreThoseWithinAThirdOfTheLetters) {
  EXPECT_EQ(nearest("gathr", {"gather", "scatter", "all_gather"}), (Texts{"gather"}));
  EXPECT_EQ(nearest("gatxxr", {"gather"}), (Texts{"gather"}));
  EXPECT_EQ(nearest("gxxxer", {"gather"}), Texts{});
  EXPECT_EQ(nearest("x", {"a"}), (Texts{"a"})) << "one letter is always a slip";
}

TEST(NearestNames, AreThreeAtMostNearestFirst) {
  EXPECT_EQ(nearest("tcp_bw", {"tcp_dx", "tcp_ab", "tcp_b", "tcp_bx", "tcp_bw"}), (Texts{"tcp_bw", "tcp_b", "tcp_bx"}));
}

}  // namespace nearest_names_test
}  // namespace fabricbench
