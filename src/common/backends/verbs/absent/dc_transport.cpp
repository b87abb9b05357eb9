#include "common/backends/verbs/provider_transport.h"

#include "common/core/error.h"

namespace fabricbench::verbs {

std::unique_ptr<ProviderTransport> open_dc(const OpenDevice& /*device*/, Verb /*verb*/,
                                           const std::string& /*library*/) {
  throw Error(ExitStatus::kMissing,
              "-c DC: fabricbench was built without infiniband/mlx5dv.h; install libibverbs-dev with it and build "
              "again, or use -c RC");
}

}  // namespace fabricbench::verbs
