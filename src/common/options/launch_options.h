// Options of `fabricbench run`, which may stand among a program's own.
#pragma once

#include <array>
#include <string_view>

namespace fabricbench {

struct LaunchOption {
  std::string_view name;
  bool takes_value;
};

/// No program has an option of the same name.
inline constexpr std::array kLaunchOptions = {LaunchOption{"--hosts", true},       LaunchOption{"--hostfile", true},
                                              LaunchOption{"-np", true},           LaunchOption{"--launcher", true},
                                              LaunchOption{"--mpi-options", true}, LaunchOption{"--dry-run", false}};

}  // namespace fabricbench
