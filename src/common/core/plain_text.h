// Text that came from elsewhere, such as names in records, on its way to a terminal or into a command: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace fabricbench {

/// For one line of a terminal: U+FFFD takes the place of control characters, of characters that break a line or turn
/// its direction (U+200B to U+200F, U+2028 to U+202E, U+2060 to U+206F, U+FEFF), and of bytes that are no UTF-8.
[[nodiscard]] std::string printable(std::string_view text);

/// As one word of a POSIX shell: in single quotes, unless it has none but letters, digits and `_./:@%+=-`. What begins
/// with `-` stays an option to the program that gets it.
[[nodiscard]] std::string shell_word(std::string_view text);

}  // namespace fabricbench
