// How the ways of pairs are told in the banner.

#include "common/backends/rdma/routes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace fabricbench;

namespace rdma_routes_test {

using Texts = std::vector<std::string>;

TEST(RouteNotices, AreOneWherePairsAgree) {
  EXPECT_EQ(route_notices("RDMA", {"a to b", "a to b"}), (Texts{"RDMA: a to b"}));
  EXPECT_EQ(route_notices("rdma_cm", {"a to b"}), (Texts{"rdma_cm: a to b"}));
  EXPECT_EQ(route_notices("RDMA", {}), Texts{});
}

TEST(RouteNotices, AreOneAPairWhereTheyDiffer) {
  EXPECT_EQ(route_notices("RDMA", {"a to b", "a to c"}), (Texts{"RDMA of pair 0: a to b", "RDMA of pair 1: a to c"}));
  EXPECT_EQ(route_notices("RDMA", {"a to b", "a to c"}, {"3", "12"}),
            (Texts{"RDMA of pair 3: a to b", "RDMA of pair 12: a to c"}))
      << "a round of pairs has some of them";
}

TEST(RouteNotices, StopAtAScreenful) {
  Texts routes;
  for (int i = 0; i < 20; ++i) routes.push_back("to " + std::to_string(i));
  const Texts notices = route_notices("RDMA", routes);
  ASSERT_EQ(notices.size(), 17U);
  EXPECT_EQ(notices[15], "RDMA of pair 15: to 15");
  EXPECT_EQ(notices[16], "RDMA of 4 more pairs: not listed");
}

TEST(KindsNotice, HasEachTextOnce) {
  EXPECT_EQ(kinds_notice("Counters", Texts{}), "");
  EXPECT_EQ(kinds_notice("Counters", Texts{"", ""}), "");
  EXPECT_EQ(kinds_notice("Counters", Texts{"a", "", "b", "a"}), "Counters: a; b");
  EXPECT_EQ(kinds_notice("Counters", Texts{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}),
            "Counters: a; b; c; d; e; f; g; h; and 2 more");
}

}  // namespace rdma_routes_test
