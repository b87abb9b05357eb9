// What is known of an option by its key in a record, of whatever program.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "common/options/program.h"

namespace fabricbench {

/// One program of each kind, by its name.
[[nodiscard]] std::vector<Program> one_program_of_each_kind();

/// Option::comparable by the option's key; false if no program has it.
[[nodiscard]] bool is_comparable(std::string_view key);

/// Sets a recorded option, if tables depend on it (Option::shapes_tables). Values that no program takes are passed
/// over.
void set_if_it_shapes_tables(std::string_view key, std::string_view value, Options& options);

// Options of `fabricbench run`, which may stand among a program's own.

struct LaunchOption {
  std::string_view name;
  bool takes_value;
};

/// No program has an option of the same name.
inline constexpr std::array kLaunchOptions = {LaunchOption{"--hosts", true},       LaunchOption{"--hostfile", true},
                                              LaunchOption{"-np", true},           LaunchOption{"--launcher", true},
                                              LaunchOption{"--mpi-options", true}, LaunchOption{"--dry-run", false}};

}  // namespace fabricbench
