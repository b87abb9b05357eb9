#pragma once

#include <string>
#include <string_view>

namespace fabricbench::test {

using RunProgram = int (*)(std::string_view path, int argc, char** argv);

/// Starts MPI, tells the listener at `address` (a socket's path, or IPv4:PORT) this process's rank, and runs what it is
/// told to until the connection is closed. Returns the exit status of the process.
///
/// A request is the length of what follows, in decimal digits and a line end, and strings that each end in a zero byte:
/// the files of the rank's host that take stdout and stderr, which are appended to; the number of variables; so many
/// `NAME=value`, or `NAME` of one that is taken out; and the program's arguments, of which the first is its path. The
/// answer is its exit status in decimal digits and a line end. A program that ends the process ends the job, as it
/// would by itself.
[[nodiscard]] int serve(const std::string& address, RunProgram run_program);

}  // namespace fabricbench::test
