#pragma once

#include <concepts>
#include <string_view>

namespace fabricbench::sockets {

[[noreturn]] void fail(std::string_view call, std::string_view details);

/// Returns a call's result, or throws Error with the kernel's message if it failed. `call` is the function's name,
/// `details` its subject.
template <std::signed_integral Result>
Result check(Result result, std::string_view call, std::string_view details = "") {
  if (result < 0) [[unlikely]]
    fail(call, details);
  return result;
}

}  // namespace fabricbench::sockets
