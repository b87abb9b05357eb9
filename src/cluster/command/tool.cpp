#include "cluster/command/tool.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "common/core/error.h"
#include "common/core/plain_text.h"
#include "common/core/units.h"
#include "common/host/crash_message.h"
#include "common/options/arguments.h"

namespace fabricbench::cluster {
namespace {

/// A file that is opened later must not take the number of a closed stream. Writing to standard output fails as before.
void keep_streams_open() {
  if (::fcntl(STDOUT_FILENO, F_GETFD) < 0) std::ignore = ::dup2(::open("/dev/null", O_RDONLY), STDOUT_FILENO);
  if (::fcntl(STDERR_FILENO, F_GETFD) < 0) std::ignore = ::dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO);
}

}  // namespace

bool read_command_line(CLI::App& app, int argc, char** argv) {
  const std::string called = argc > 0 ? called_name(argv[0], app.get_name()) : app.get_name();
  const std::string text =
      read_arguments(app, std::vector<std::string>(argv + std::min(argc, 1), argv + argc), {}, called);
  fmt::print("{}", text);
  return text.empty();
}

int run_tool(std::string_view program, const std::function<ExitStatus()>& work) {
  // Of what even this does not catch, as where memory lacks while an exception is on its way.
  set_crash_message(program);
  keep_streams_open();
  try {
    const ExitStatus status = work();
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      throw Error(ExitStatus::kFailure, fmt::format("cannot write to standard output: {}", std::strerror(errno)));
    }
    return static_cast<int>(status);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", program, printable(cut_short(message_of(error))));
    std::clearerr(stdout);  // a caller with a name of its own is not to tell it again
    return static_cast<int>(fabricbench::status_of(error));
  }
}

double parse_share(std::string_view text, std::string_view what) {
  const bool percent = !text.empty() && text.back() == '%';
  double share = 0;
  try {
    share =
        percent ? parse_number(text.substr(0, text.size() - 1), what, 0, 100) / 100 : parse_number(text, what, 0, 1);
  } catch (const UsageError&) {
    share = 0;  // refused below, with the message for shares
  }
  if (!(share > 0 && share < 1)) {
    throw UsageError(fmt::format(
        "{} '{}' is not a share of more than nothing and less than all; write one such as 5% or 0.05", what, text));
  }
  return share;
}

std::string share_text(double share) { return fmt::format("{:g}%", 100 * share); }

}  // namespace fabricbench::cluster
