#pragma once

#include <concepts>
#include <string_view>

namespace fabricbench::sockets {

[[noreturn]] void fail(std::string_view call, std::string_view details);

/// Throws Error with the kernel's own words where a call did not succeed, and returns its result where it did. `call`
/// is the function's name, `details` what it was about.
template <std::signed_integral Result>
Result check(Result result, std::string_view call, std::string_view details = "") {
  if (result < 0) [[unlikely]]
    fail(call, details);
  return result;
}

}  // namespace fabricbench::sockets
