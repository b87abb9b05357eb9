#include "common/core/secret.h"

#include <random>

namespace fabricbench {

std::uint64_t draw_secret() {
  std::random_device source;
  return std::uint64_t{source()} << 32 | source();
}

}  // namespace fabricbench
