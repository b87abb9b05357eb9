// All that `fabricbench` starts, by the question that it answers: programs, scripts and commands. And what programs of
// other tools are called here: `fabricbench` says it of a name that is theirs, and docs/coming-from.md lists them.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace fabricbench::cluster {

/// How an entry is started.
enum class StartedAs {
  kAllRanks,  ///< an MPI job of as many ranks as fit
  kTwoRanks,  ///< an MPI job of two ranks, unless told otherwise
  kEachHost,  ///< an MPI job of one rank on each host
  kAlone,     ///< a program that needs no MPI
  kScript,    ///< scripts/NAME.sh
  kCommand    ///< a part of `fabricbench`
};

struct CatalogueEntry {
  std::string_view name;  ///< of the program, the script without .sh, or the command
  StartedAs start;
  std::string_view purpose;  ///< what it tells, in at most 58 characters
};

struct Question {
  std::string_view text;
  std::span<const CatalogueEntry> entries;
};

[[nodiscard]] std::span<const Question> catalogue();

/// Commands that answer no question, so that the catalogue lacks them.
inline constexpr std::array<std::string_view, 2> kOtherCommands = {"list", "run"};

/// The entry that is called so, with or without `_perf` and the prefix of installed links, and with `-` or `_`; or
/// null.
[[nodiscard]] const CatalogueEntry* find_entry(std::string_view given);

/// What may be meant by a name that no entry has: `; osu_bw of OSU is send_recv_bw here`, or
/// `; the nearest is all_reduce_perf`, or nothing.
[[nodiscard]] std::string names_meant_by(std::string_view given);

/// The whole catalogue, in 80 columns.
[[nodiscard]] std::string text_of_catalogue();

struct OtherProgram {
  std::string_view tool;
  std::string_view name;
  std::string_view ours;    ///< in the catalogue
  std::string_view test{};  ///< of a program of several tests: which one that is, and what others are
};

[[nodiscard]] std::span<const OtherProgram> other_programs();

/// ` (PingPong; ...)` of a program of several tests, or nothing.
[[nodiscard]] std::string of_test(const OtherProgram& program);

}  // namespace fabricbench::cluster
