#include "common/host/crash_message.h"

#include <array>
#include <cstring>
#include <exception>

#include <sys/uio.h>
#include <unistd.h>

#include "common/core/error.h"

namespace fabricbench {
namespace {

std::array<char, 512> speaker{};  // memory may be what is lacking when it is needed

iovec piece(const char* text) { return {const_cast<char*>(text), std::strlen(text)}; }

[[noreturn]] void say(const char* message, ExitStatus status) {
  const std::array pieces = {piece(speaker.data()), piece(": "), piece(message), piece("\n")};
  const ssize_t written = writev(STDERR_FILENO, pieces.data(), pieces.size());
  _exit(static_cast<int>(written < 0 ? ExitStatus::kFailure : status));
}

[[noreturn]] void print_crash_message() {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    say(message_of(error), status_of(error));
  } catch (...) {
    say("an exception of no known kind", ExitStatus::kFailure);
  }
  say("ended by std::terminate", ExitStatus::kFailure);
}

}  // namespace

void set_crash_message(std::string_view name) {
  speaker[name.copy(speaker.data(), speaker.size() - 1)] = '\0';
  std::set_terminate(print_crash_message);
}

}  // namespace fabricbench
