// What the kernel, the C library and the loader answer for sources that begin with `system/`.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace fabricbench::host {

/// The names of the variables of the environment, sorted.
[[nodiscard]] std::vector<std::string> environment_names();

/// What stands behind `system/`; nothing if it is none of these. Throws NotSeen.
///   interfaces     a line for each address: `eno1 up 10.0.0.7/24`, or without one: `eno2 no-carrier`, `eno3 down`
///   home           the home folder in the list of users, which NCCL reads
///   clock          `synchronized 1234`, or `unsynchronized 16000000`: the kernel's bound of the error in us;
///   adjtimex(2) program/NAME   where a program on the PATH is, with links followed program_hash   a hash of the
///   program that runs library/NAME   `loads /usr/lib/.../libnccl.so.2.19.3`, or `fails ...` in the loader's words;
///   tried in a child
///                  process, which has some seconds
[[nodiscard]] std::optional<std::string> find_system_fact(const std::string& rest);

}  // namespace fabricbench::host
