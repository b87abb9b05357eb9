// What the environment, the kernel, the C library and the loader answer for sources that are no files.
#pragma once

#include <string>
#include <vector>

namespace fabricbench::host {

/// The names of the variables of the environment, sorted.
[[nodiscard]] std::vector<std::string> environment_names();

/// The value of one. Throws NotSeen.
[[nodiscard]] std::string environment_variable(const std::string& name);

/// The answer to a source that begins with `system/`, which `rest` goes without. Throws NotSeen.
/// - `host_name`, `kernel`
/// - `interfaces`: a line for each address, `eno1 up 10.0.0.7/24`, or without one, `eno2 no-carrier`, `eno3 down`
/// - `home`: the home folder in the list of users, which NCCL reads
/// - `clock`: `synchronized 1234`, or `unsynchronized 16000000`, with the kernel's bound of the error in us:
/// adjtimex(2)
/// - `program_hash`: of the program that runs
/// - `free/FOLDER`: free bytes and all of its file system: statvfs(3)
/// - `opens/FILE`: `yes`, or why a device that is there cannot be opened: open(2)
/// - `address/NAME`: the addresses of a name, in a line each: getaddrinfo(3)
/// - `program/NAME`: where a program on the PATH is, with links followed
/// - `library/NAME`: `loads /usr/lib/.../libnccl.so.2.19.3`, or `fails` and the loader's words; tried in a child
/// process,
///   which has some seconds
[[nodiscard]] std::string system_fact(const std::string& rest);

}  // namespace fabricbench::host
