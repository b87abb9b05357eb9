// The rule for names of hosts that come from outside, such as lists, records and logs of other tools. What keeps to it
// cannot break a line, a list or a command: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fabricbench {

/// Characters of a host's name or address, such as `node01`, `10.0.0.1` or `fe80::1%eth0`, besides letters and digits
/// of ASCII. The first one is not `-`, which begins options.
inline constexpr std::string_view kInHostNames = "-._:%";
/// Of a name in the domain name system. Source: RFC 1035, section 2.3.4.
inline constexpr std::size_t kLongestHostName = 255;
/// The same of the user in `alice@node01`.
inline constexpr std::string_view kInUserNames = "-._";

/// What is wrong with `name`, which may begin with a user: the end of a sentence that names it. Empty: nothing.
[[nodiscard]] std::string fault_of_host_name(std::string_view name);

/// `name` with `_` for each character that does not keep to the rule.
[[nodiscard]] std::string as_host_name(std::string_view name);

}  // namespace fabricbench
