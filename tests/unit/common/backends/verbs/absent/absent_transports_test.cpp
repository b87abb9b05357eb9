// What takes the place of types of connection whose provider's header was missing when this was built.

#include <gtest/gtest.h>

#include <string>

#include "common/backends/verbs/provider_transport.h"
#include "common/core/error.h"

namespace fabricbench::verbs {
namespace absent_transports_test {

template <typename Open>
std::string refusal(Open open) {
  try {
    (void)open({}, Verb::kSend, "");
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kMissing);
    return error.what();
  }
  return "";
}

TEST(AbsentTransports, SayWhatToInstall) {
  EXPECT_EQ(refusal(open_srd),
            "-c SRD: fabricbench was built without infiniband/efadv.h; install libibverbs-dev with it and build "
            "again, or use -c RC where the adapter is not EFA");
  EXPECT_EQ(refusal(open_dc),
            "-c DC: fabricbench was built without infiniband/mlx5dv.h; install libibverbs-dev with it and build again, "
            "or use -c RC");
}

}  // namespace absent_transports_test
}  // namespace fabricbench::verbs
