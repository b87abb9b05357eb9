#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "option_test_support.h"

using namespace fabricbench;

namespace copy_options_test {

const Program& copies() { return test::kGpuCopyBw; }

TEST(CopyOptions, AreThoseThatMeanSomethingToCopies) {
  EXPECT_EQ(test::own_options(copies()),
            (std::set<std::string>{"minbytes", "maxbytes", "stepbytes", "stepfactor", "iters", "warmup_iters", "epochs",
                                   "time_budget", "quick", "seed", "timeout", "stall_action", "check", "device"}));
}

TEST(CopyOptions, BeginWithOneSize) {
  const Options options = parse_command_line(copies(), {}).options;
  EXPECT_EQ(options.sizes.min_bytes, Bytes{256} << 20);
  EXPECT_EQ(options.sizes.max_bytes, Bytes{256} << 20);
  EXPECT_EQ(options.checks, 1);
  EXPECT_EQ(options.epochs, 9);
}

TEST(CopyOptions, TakeASweep) {
  const Options options = parse_command_line(copies(), {"-b", "1M", "-e", "1G", "-f", "4", "--device", "3"}).options;
  EXPECT_EQ(options.sizes.min_bytes, Bytes{1} << 20);
  EXPECT_EQ(options.sizes.max_bytes, Bytes{1} << 30);
  EXPECT_EQ(options.sizes.step_factor, 4U);
  EXPECT_EQ(options.device, 3);
}

TEST(CopyOptions, RefuseThoseOfMessages) {
  EXPECT_THROW((void)parse_command_line(copies(), {"--datatype", "half"}), UsageError);
  EXPECT_THROW((void)parse_command_line(copies(), {"--pairs", "0-1"}), UsageError);
}

}  // namespace copy_options_test
