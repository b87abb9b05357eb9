// What NCCL chose, through each version of its profiler interface (FAKE_NCCL_PROFILER).

#include "nccl_fixture.h"

namespace fabricbench::nccl {
namespace nccl_choices_test {

using NcclChoicesTest = NcclTest;

TEST_F(NcclChoicesTest, AreSeenOnlyWhileObserved) {
  const auto session = make_session(test_options(), true);
  ASSERT_EQ(session->why_no_choices(), "");
  const Buffers data(*session, 4096);
  const auto all_reduce = [&](int i, Backend& backend) {
    backend.all_reduce(data.on(i).data(), data.on(i).data(), 1024, DataType::kFloat, Reduction::kSum);
  };

  run(*session, all_reduce);
  EXPECT_FALSE(session->last_choice()) << "not observed yet";

  session->observe_choices(true);
  EXPECT_FALSE(session->last_choice()) << "nothing started yet";
  run(*session, all_reduce);
  ASSERT_TRUE(session->last_choice());
  EXPECT_EQ(session->last_choice()->algorithm, "RING");
  EXPECT_EQ(session->last_choice()->protocol, "SIMPLE");
  EXPECT_EQ(session->last_choice()->channels, 4);

  session->observe_choices(false);
  session->observe_choices(true);
  EXPECT_FALSE(session->last_choice()) << "an old choice was kept";
  session->observe_choices(false);
  run(*session, all_reduce);
  EXPECT_FALSE(session->last_choice());
}

TEST_F(NcclChoicesTest, AreSeenInASecondSessionToo) {
  make_session(test_options(), true);
  const auto session = make_session(test_options(), true);
  const Buffers data(*session, 4096);
  session->observe_choices(true);
  run(*session,
      [&](int i, Backend& backend) { backend.all_gather(data.on(i).data(), data.on(i).data(), 1, DataType::kInt8); });
  EXPECT_TRUE(session->last_choice());
}

}  // namespace nccl_choices_test
}  // namespace fabricbench::nccl
