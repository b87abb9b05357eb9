// What NCCL chose, through each version of its profiler interface (FAKE_NCCL_PROFILER).

#include "nccl_fixture.h"

namespace fabricbench::nccl {
namespace nccl_choices_test {

using NcclChoicesTest = NcclTest;

TEST_F(NcclChoicesTest, AreSeenOnlyWhileObserved) {
  const auto session = make_session(test_options(), true);
  ASSERT_EQ(session->why_no_choices(), "");
  const Buffers data(*session, 4096);
  const auto all_reduce = [&](int i, CollectiveBackend& backend) {
    backend.all_reduce(data.on(i).data(), data.on(i).data(), 1024, DataType::kFloat, Reduction::kSum);
  };

  run(*session, all_reduce);
  EXPECT_FALSE(session->choices()->last()) << "not observed yet";

  session->choices()->observe(true);
  EXPECT_FALSE(session->choices()->last()) << "nothing started yet";
  run(*session, all_reduce);
  ASSERT_TRUE(session->choices()->last());
  EXPECT_EQ(session->choices()->last()->algorithm, "RING");
  EXPECT_EQ(session->choices()->last()->protocol, "SIMPLE");
  EXPECT_EQ(session->choices()->last()->channels, 4);

  session->choices()->observe(false);
  session->choices()->observe(true);
  EXPECT_FALSE(session->choices()->last()) << "an old choice was kept";
  session->choices()->observe(false);
  run(*session, all_reduce);
  EXPECT_FALSE(session->choices()->last());
}

TEST_F(NcclChoicesTest, AreSeenInASecondSessionToo) {
  make_session(test_options(), true);
  const auto session = make_session(test_options(), true);
  const Buffers data(*session, 4096);
  session->choices()->observe(true);
  run(*session, [&](int i, CollectiveBackend& backend) {
    backend.all_gather(data.on(i).data(), data.on(i).data(), 1, DataType::kInt8);
  });
  EXPECT_TRUE(session->choices()->last());
}

}  // namespace nccl_choices_test
}  // namespace fabricbench::nccl
