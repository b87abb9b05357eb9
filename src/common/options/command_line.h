#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/options/program.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace fabricbench {

/// The result of reading a command line: options for a run, or a text to print instead.
struct CommandLine {
  Options options;
  std::string text;                  ///< for --help or --version; empty: run
  std::vector<std::string> notices;  ///< how options of other tools were read
};

/// Reads the arguments after the program's name. `called`: how the user called it, for --help; empty: by its name.
/// Throws UsageError.
[[nodiscard]] CommandLine parse_command_line(const Program& program, const std::vector<std::string>& arguments,
                                             const std::string& called = "");

/// The arguments of rank 0, after options from the environment.
[[nodiscard]] std::vector<std::string> arguments_with_environment(const Program& program, int argc, char** argv);

/// The help text of an option: its effect, its default, and its environment variable.
[[nodiscard]] std::string help_of(const Option& option, const Options& defaults);

// What every program asks of CLI11: one form of --help, and errors in the program's own words.

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

/// The argument that asks every program for its description, without an MPI job. It is in no --help.
constexpr std::string_view kDescribeOptions = "--describe-options";

/// The names of an option that --help lists: letters, and the first long name; other names differ only by dashes. Of a
/// positional argument, its word.
[[nodiscard]] std::vector<std::string> listed_names(const CLI::Option& option);

/// `text`, with the program's `name` in example lines (which are indented) as `called`.
[[nodiscard]] std::string with_called_name(const std::string& text, const std::string& name, const std::string& called);

/// `fb_all_reduce_perf` where the program was started by a link of that name to all_reduce_perf, else `name`.
[[nodiscard]] std::string called_name(std::string_view path, const std::string& name);

/// Lines of fields that are separated by tabs: `name`, the name; `about`, a line of the purpose; `argument`, its word
/// and help; `option`, group, names (as `-b, --minbytes`), the word for its value (empty: a flag), help, and
/// the words that are values (as `in|out|both`; often none), which the app has as the option's type.
[[nodiscard]] std::string describe_options(const CLI::App& app, const std::string& called);

}  // namespace fabricbench
