// Command lines of commands that are called like scripts: options with two dashes, a help text of their own, and words.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "common/core/error.h"

namespace fabricbench::cluster {

/// How a command was called: `fabricbench accept`, or as a script whose only line calls it, by $FABRICBENCH_COMMAND.
struct CalledAs {
  /// `command`: without `fabricbench`. Takes the variable out of the environment, so that children do not read it.
  explicit CalledAs(std::string_view command);
  std::string name;  ///< for messages: `fabricbench accept`, `accept.sh`
  std::string call;  ///< for commands that a user is told to type: the same, or the script's path
};

class CommandOptions {
 public:
  /// `usage`: the whole help text. Scripts in it are written as they lie in the sources, `scripts/accept.sh`; where the
  /// command is called as one of fabricbench, or is installed, they become `fabricbench accept`.
  CommandOptions(CalledAs called, std::string usage);

  /// An option without a value; `--name` or `-n`. Several may have the same `take`.
  void flag(std::string name, std::function<void()> take);
  /// An option with a value, behind it or after `=`. `take` gets the option's name, for messages, and the value.
  void value(std::string name, std::function<void(const std::string& name, const std::string& value)> take);
  void value(std::string name, std::string& into);

  /// Reads all words. False after printing the help. Throws UsageError, with the nearest option for an unknown one.
  [[nodiscard]] bool read(const std::vector<std::string>& arguments);

  /// Throws UsageError: the word is none of these options; `nearest` is one that may be meant, or empty.
  [[noreturn]] void refuse(std::string_view word, std::string_view nearest = {}) const;

  /// Words that belong to no option, and those behind `--`.
  [[nodiscard]] const std::vector<std::string>& words() const noexcept { return words_; }
  [[nodiscard]] const std::vector<std::string>& behind() const noexcept { return behind_; }
  [[nodiscard]] const CalledAs& called() const noexcept { return called_; }

 private:
  struct Entry {
    std::string name;
    bool takes_value = false;
    std::function<void(const std::string& name, const std::string& value)> take;
  };
  [[nodiscard]] const Entry& entry_of(const std::string& name) const;

  CalledAs called_;
  std::string usage_;
  std::vector<Entry> entries_;
  std::vector<std::string> words_;
  std::vector<std::string> behind_;
};

/// Whether a word asks for help, which takes no value and ignores one, as in all programs.
[[nodiscard]] bool asks_for_help(std::string_view word);

/// A whole number of up to nine digits. Throws UsageError where it is none, or less than `least`.
[[nodiscard]] int whole_number(std::string_view option, std::string_view text, int least);

/// The seconds of a time such as 90s, 20m or 8h. A number alone is minutes to users of Slurm, and seconds to others:
/// throws UsageError.
[[nodiscard]] int seconds_of(std::string_view option, std::string_view text);

/// The value of an option that is called by any of `names`, such as `-T` and `--timeout`, among the words of a command:
/// as the next word, behind `=`, or behind a letter. The last one counts.
[[nodiscard]] std::optional<std::string> value_of(std::span<const std::string> words,
                                                  std::initializer_list<std::string_view> names);

/// Prints `NAME: TEXT` to standard error, also where that is closed.
void warn(std::string_view name, std::string_view text);
inline void warn(const CalledAs& called, std::string_view text) { warn(called.name, text); }

// What the programs in this directory have in common: beginning and end, and shares on their command lines.

/// Reads the command line into the variables of `app`'s options; `app` has its name and description. Adds --help and
/// --version, and returns false after printing one of them. Throws UsageError.
[[nodiscard]] bool read_command_line(CLI::App& app, int argc, char** argv);

/// Runs `work`, and returns its status as a number for `main`. Prints an exception to stderr as one line that begins
/// with the program's name, and returns its status (see status_of).
[[nodiscard]] int run_tool(std::string_view program, const std::function<ExitStatus()>& work);

/// The share of a port's rate that `--expect adapters` requires.
inline constexpr double kShareOfPort = 0.9;

/// Reads a share between 0 and 1 (exclusive), written as `5%` or `0.05`. Throws UsageError with `what`.
[[nodiscard]] double parse_share(std::string_view text, std::string_view what);

/// A share as help and options write it: `5%`.
[[nodiscard]] std::string share_text(double share);

}  // namespace fabricbench::cluster
