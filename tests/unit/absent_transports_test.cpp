// What takes the place of types of connection whose provider's header was missing when this was built.

#include <gtest/gtest.h>

#include <string>

#include "common/backends/verbs/srd_transport.h"
#include "common/core/error.h"

namespace fabricbench::verbs {
namespace absent_transports_test {

TEST(AbsentTransports, SayWhatToInstall) {
  try {
    (void)open_srd({}, Verb::kSend);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kMissing);
    EXPECT_STREQ(error.what(),
                 "-c SRD: fabricbench was built without infiniband/efadv.h; install libibverbs-dev with it and build "
                 "again, or use -c RC where the adapter is not EFA");
  }
}

}  // namespace absent_transports_test
}  // namespace fabricbench::verbs
