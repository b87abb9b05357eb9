#include "common/backends/verbs/provider_transport.h"

#include "common/core/error.h"

namespace fabricbench::verbs {

std::unique_ptr<ProviderTransport> open_srd(const OpenDevice& /*device*/, Verb /*verb*/,
                                            const std::string& /*library*/) {
  throw Error(ExitStatus::kMissing,
              "-c SRD: fabricbench was built without infiniband/efadv.h; install libibverbs-dev with it and build "
              "again, or use -c RC where the adapter is not EFA");
}

}  // namespace fabricbench::verbs
