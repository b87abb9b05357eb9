// What every program asks of CLI11: one form of --help, and errors in the program's own words.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace fabricbench {

/// A name that the app does not have, for the nearest names to an unknown option.
struct OtherName {
  std::string name;     ///< `--length`
  std::string meaning;  ///< `--length of iperf3 (its effect)`
};

/// Reads `arguments`, without the program's name, into the variables of `app`'s options; adds --help and --version.
/// Returns what one of them prints, help in 80 columns, if it was given; else an empty text. `called`: how the user
/// called the program, which its help says; empty: as the app is named. Throws UsageError.
[[nodiscard]] std::string read_arguments(CLI::App& app, std::vector<std::string> arguments,
                                         const std::vector<OtherName>& others = {}, const std::string& called = "");

}  // namespace fabricbench
