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
  std::string_view ours;    ///< in the catalogue
  std::string_view test{};  ///< of a program of several tests: which one that is, and what others are
};

[[nodiscard]] std::span<const OtherProgram> other_programs();

/// ` (PingPong; ...)` of a program of several tests, or nothing.
[[nodiscard]] std::string of_test(const OtherProgram& program);

/// `; osu_bw of OSU is send_recv_bw here`, or nothing.
[[nodiscard]] std::string other_program_here(std::string_view given);

}  // namespace fabricbench::cluster
