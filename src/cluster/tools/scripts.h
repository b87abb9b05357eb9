// Where the suite's programs and scripts are, and how this program becomes one of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fabricbench::cluster {

/// The folder of this program, in which all others are.
[[nodiscard]] std::string programs_folder();

/// The path of a script. Throws Error (kMissing).
[[nodiscard]] std::string find_script(std::string_view file);

/// Becomes the program at the first word, with the others as its arguments. Throws Error (kMissing) where it cannot be
/// started; `advice` says what to do then.
[[noreturn]] void become(std::vector<std::string> words, std::string_view advice);

/// Becomes a script, which calls itself `command` and finds the programs by $FABRICBENCH_PROGRAMS_FOLDER.
[[noreturn]] void become_script(std::string_view file, std::string_view command,
                                const std::vector<std::string>& arguments);

}  // namespace fabricbench::cluster
