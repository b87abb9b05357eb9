// What other tools' options are here: command lines, messages and docs/coming-from.md use it.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/options/command_line.h"
#include "common/options/program.h"

namespace fabricbench {

/// What happens to an option of another tool.
enum class Treatment {
  kSame,     ///< has the same name and meaning here
  kMapped,   ///< is replaced by ours, with a notice
  kDropped,  ///< is left out with a notice, because it changes nothing here
  kRefused,  ///< ends the program, with the reason
};

/// Programs that lack an option of their tool, and what happens to it there.
struct Unsupported {
  std::string_view programs{};                ///< such as `rdma_read_*,rdma_*_lat`, with one star in each; empty: none
  Treatment treatment = Treatment::kRefused;  ///< kDropped or kRefused
  std::string_view reason{};                  ///< kRefused: ends with the advice
};

/// Values of an option of another tool that ours has too.
struct Allowed {
  std::string_view values{};     ///< `cuda,host`; empty: all
  std::string_view otherwise{};  ///< why others are refused
};

/// Options of another tool that are treated alike.
struct OtherOption {
  Treatment treatment = Treatment::kSame;
  std::string_view
      names;  ///< `-x,--gid-index`, or words without dashes; of several options with one reason: all of them
  std::string_view value_name;  ///< empty for flags
  /// Mapped: our options, in which VALUE, or MIN and MAX of `[MIN:]MAX`, stand for what was given. Dropped and refused:
  /// the reason, and our way of saying it.
  std::string_view ours;
  std::array<Unsupported, 2> unsupported{};  ///< of options that are the same; the first that has the program counts
  Allowed allowed{};                         ///< of options that are replaced
  std::string_view usual{};   ///< of options that are replaced: ours that are added where no message size is given
  std::string_view remark{};  ///< of options that are the same or replaced: what differs
  /// Its letter is one of ours too, and is the tool's beside other letters that are the tool's alone.
  bool in_company = false;
};

struct OtherTool {
  std::string_view name;
  std::string_view programs;  ///< our programs that read its options, in words
  bool has_server = false;    ///< the tool is given the name of a server
  bool (*is_for)(std::string_view program) = nullptr;
  std::span<const OtherOption> options;
};

[[nodiscard]] std::span<const OtherTool> other_tools();

/// Each name of `-x,--gid-index`.
[[nodiscard]] std::vector<std::string_view> names_in(std::string_view names);

/// What happens in `program` to an option that is the same in others; null if the program has it.
[[nodiscard]] const Unsupported* unsupported_in(const OtherOption& option, std::string_view program);

/// True if `program` has an option of this name with its dashes.
[[nodiscard]] bool has_option(const Program& program, std::string_view name);

/// Long names of the tools that `program` stands for and that it lacks itself, with what they are here.
[[nodiscard]] std::vector<OtherName> other_names(const Program& program);

/// A command line in the program's own options.
struct Translated {
  std::vector<std::string> arguments;
  std::vector<std::string> notices;  ///< one for each option of another tool
};

/// Replaces options of the tools that `program` stands for; its own options go first, and - and _ within a long
/// name are the same. Throws UsageError where one is
/// refused, where another tool's option is of other programs, and where a server is named.
[[nodiscard]] Translated translate_options(const Program& program, const std::vector<std::string>& arguments);

/// For an option of `program` whose value was refused: `; OSU's -m is --maxbytes here`, or empty.
[[nodiscard]] std::string other_meaning(const Program& program, const Option& option);

}  // namespace fabricbench
