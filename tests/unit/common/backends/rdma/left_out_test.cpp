// How the banner tells of devices that a run does without.

#include "common/backends/rdma/port_choice.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace fabricbench;

namespace left_out_test {

using Texts = std::vector<std::string>;

TEST(LeftOutNotices, NameHostDeviceAndReason) {
  EXPECT_EQ(left_out_notices({}), Texts{});
  EXPECT_EQ(left_out_notices({{"b", "mlx5_3", "port 1 is DOWN"}, {"a", "mlx5_3", "it does not answer"}}),
            (Texts{"Left out: mlx5_3 of host b, because port 1 is DOWN",
                   "Left out: mlx5_3 of host a, because it does not answer"}));
}

TEST(LeftOutNotices, AreOneForAllHostsWhereItIsSo) {
  EXPECT_EQ(
      left_out_notices(
          {{"b", "mlx5_3", "port 1 is DOWN"}, {"b", "mlx5_3", "port 1 is DOWN"}, {"a", "mlx5_3", "port 1 is DOWN"}}),
      (Texts{"Left out: mlx5_3 of hosts b, a, because port 1 is DOWN"}))
      << "both ranks of b tell of it";
  std::vector<LeftOutDevice> of_all;
  for (int host = 0; host < 11; ++host) of_all.push_back({"h" + std::to_string(host), "mlx5_9", "port 1 is DOWN"});
  EXPECT_EQ(left_out_notices(of_all),
            (Texts{"Left out: mlx5_9 of hosts h0, h1, h2, h3, h4, h5, h6, h7 and 3 more, because port 1 is DOWN"}));
}

TEST(LeftOutNotices, StopAtAScreenful) {
  std::vector<LeftOutDevice> many;
  for (int device = 0; device < 20; ++device) many.push_back({"a", "mlx5_" + std::to_string(device), "port 1 is DOWN"});
  const Texts notices = left_out_notices(many);
  ASSERT_EQ(notices.size(), 17U);
  EXPECT_EQ(notices[16], "and 4 more devices that were left out");
}

}  // namespace left_out_test
