// What a program says of its options, as its man page and the completion of shells use it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fabricbench::manuals {

/// The command that starts the others.
constexpr std::string_view kFront = "fabricbench";

struct Argument {
  std::string word;  ///< `FILE`
  std::string help;
};

struct DescribedOption {
  std::string group;
  std::vector<std::string> names;  ///< `-b`, `--minbytes`
  std::string value;               ///< `SIZE`; empty: a flag
  std::string help;
  std::string words;  ///< `in|out|both`: those that are values; often empty
};

/// A command of `fabricbench`.
struct Command {
  std::string name;
  std::string purpose;
  std::string help;  ///< all that its --help prints
};

struct Manual {
  std::string name;
  std::vector<std::string> about;  ///< lines: what it does, and two and six columns further in, examples
  std::vector<Argument> arguments;
  std::vector<DescribedOption> options;
  std::vector<Command> commands;
  std::vector<Command> scripts;  ///< started by `fabricbench`
  bool launched = false;         ///< as an MPI job
};

/// From what `--describe-options` printed. Throws std::runtime_error.
[[nodiscard]] Manual read_manual(std::string_view described);

/// The names in what `fabricbench --help` or `fabricbench list` printed, without their help.
[[nodiscard]] std::vector<Command> read_commands(std::string_view help);

/// The options that the lines of a --help begin with.
[[nodiscard]] std::vector<DescribedOption> options_in_help(std::string_view help);

/// The options that a --help only names, in its paragraph `How...`, with what the first of `others` says that has them.
[[nodiscard]] std::vector<DescribedOption> options_named_in_help(std::string_view help,
                                                                 const std::vector<Command>& others);

/// Whether the usage in a --help has files that do not belong to an option.
[[nodiscard]] bool takes_files(std::string_view help);

[[nodiscard]] std::string man_page(const Manual& manual, std::string_view version);

/// Completion of all programs, for both their names: with the prefix of the installed commands, and without.
[[nodiscard]] std::string bash_completion(const std::vector<Manual>& manuals, std::string_view prefix);
[[nodiscard]] std::string zsh_completion(const std::vector<Manual>& manuals, std::string_view prefix);
[[nodiscard]] std::string fish_completion(const Manual& manual);
/// Of `fabricbench`, with the programs that it starts.
[[nodiscard]] std::string fish_completion_of_front(const std::vector<Manual>& manuals, std::string_view prefix);

}  // namespace fabricbench::manuals
