#include "common/record/copy_row.h"

#include <array>
#include <cstddef>

namespace fabricbench {

std::string_view short_name(CopyKind kind) {
  constexpr std::array<std::string_view, 5> kNames = {"H->D", "D->H", "H<->D", "D->D", "peer"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace fabricbench
