// What programs of other tools are called here: `fabricbench` says it of a name that is theirs, and docs/coming-from.md
// lists them.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace fabricbench::cluster {

struct OtherProgram {
  std::string_view tool;
  std::string_view name;
  std::string_view ours;  ///< in the catalogue
};

[[nodiscard]] std::span<const OtherProgram> other_programs();

/// `; osu_bw of OSU is send_recv_bw here`, or nothing.
[[nodiscard]] std::string other_program_here(std::string_view given);

}  // namespace fabricbench::cluster
