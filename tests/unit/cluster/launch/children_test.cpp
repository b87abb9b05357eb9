#include "cluster/launch/children.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>

namespace fabricbench::cluster {
namespace children_test {

TEST(Jobs, TellOfASignalThatComesWhileTheyAreEnded) {
  Signals signals;
  const WorkFolder folder("children");
  Jobs jobs(signals);
  jobs.start({{}, {"sleep", "100"}}, folder.path() / "out", folder.path() / "err", 0, [](const JobEnd&) {});
  ::kill(::getpid(), SIGINT);
  jobs.end_all();
  EXPECT_EQ(jobs.running(), 0U);
  EXPECT_EQ(jobs.step(std::chrono::milliseconds(0)), SIGINT);
  EXPECT_FALSE(jobs.step(std::chrono::milliseconds(0)));
}

}  // namespace children_test
}  // namespace fabricbench::cluster
