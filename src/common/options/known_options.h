// What is known of an option by its key in a record, of whatever program.
#pragma once

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

}  // namespace fabricbench
