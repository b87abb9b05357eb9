// Makes foreign text, such as names in records, safe for a terminal or a command: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fabricbench {

/// For one line of a terminal. U+FFFD replaces control characters, characters that break a line or change its direction
/// (U+200B to U+200F, U+2028 to U+202E, U+2060 to U+206F, U+FEFF), and invalid UTF-8.
[[nodiscard]] std::string printable(std::string_view text);

/// With U+FFFD in the place of what is no UTF-8.
[[nodiscard]] std::string as_utf8(std::string_view text);

/// The beginning and the end of a text of more than `most` bytes, with the number of bytes left out between them.
[[nodiscard]] std::string cut_short(std::string_view text, std::size_t most = 2000);

/// `text` without a byte order mark of UTF-8.
[[nodiscard]] std::string_view without_byte_order_mark(std::string_view text);

/// Why a text that begins like this cannot be read, as the end of a sentence about its file; empty: it can.
[[nodiscard]] std::string fault_of_encoding(std::string_view beginning);

/// One word of a POSIX shell, in single quotes unless it consists of letters, digits and `_./:@%+=-`. A word that
/// begins with `-` is still an option to the program that receives it.
[[nodiscard]] std::string shell_word(std::string_view text);

// The rule for names of hosts that come from outside, such as lists, records and logs of other tools. What keeps to it
// cannot break a line, a list or a command: pure functions.

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
