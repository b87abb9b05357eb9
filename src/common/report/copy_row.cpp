#include "common/report/copy_row.h"

#include <array>
#include <cstddef>

namespace fabricbench {

std::string_view name(CopyKind kind) {
  constexpr std::array<std::string_view, 5> kNames = {"host_to_device", "device_to_host", "both_ways",
                                                      "device_to_device", "peer"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view short_name(CopyKind kind) {
  constexpr std::array<std::string_view, 5> kNames = {"H->D", "D->H", "H<->D", "D->D", "peer"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace fabricbench
