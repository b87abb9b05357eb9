#pragma once

#include "common/measure/test.h"
#include "common/record/context.h"

namespace fabricbench {

/// Adds to each group of `context` how its bus bandwidth follows from the rate of its links: of the NICs of a host, or
/// on one host of the NVLinks of a GPU. Groups that run at the same time share the NICs of their hosts.
void describe_traffic(const Test& test, Context& context);

}  // namespace fabricbench
