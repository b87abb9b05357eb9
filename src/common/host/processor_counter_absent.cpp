#include "common/host/tick_counter.h"

namespace fabricbench::host {

bool has_processor_counter() { return false; }

std::uint64_t processor_count() { return 0; }

}  // namespace fabricbench::host
