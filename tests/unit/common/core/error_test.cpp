#include "common/core/error.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

using namespace fabricbench;

namespace error_test {

const std::system_error kNoThread(std::make_error_code(std::errc::resource_unavailable_try_again));

TEST(StatusOf, IsTheErrorsOwnOrSaysWhatIsLacking) {
  EXPECT_EQ(status_of(UsageError("x")), ExitStatus::kUsage);
  EXPECT_EQ(status_of(std::bad_alloc()), ExitStatus::kMissing);
  EXPECT_EQ(status_of(kNoThread), ExitStatus::kMissing);
  EXPECT_EQ(status_of(std::runtime_error("x")), ExitStatus::kFailure);
  EXPECT_EQ(status_of(std::system_error(std::make_error_code(std::errc::io_error))), ExitStatus::kFailure);
}

TEST(MessageOf, SaysWhatIsLackingAndWhatToDo) {
  EXPECT_EQ(std::string(message_of(std::bad_alloc())).substr(0, 14), "out of memory:");
  EXPECT_NE(std::string(message_of(kNoThread)).find("ulimit -u"), std::string::npos);
  EXPECT_STREQ(message_of(std::runtime_error("as it is")), "as it is");
}

}  // namespace error_test
