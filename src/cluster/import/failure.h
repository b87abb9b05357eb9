#pragma once

#include <string>
#include <string_view>

namespace fabricbench::cluster {

/// The first line of a log that has a word of failure, as one line for people; empty where there is none. Warnings do
/// not count.
[[nodiscard]] std::string words_of_failure_in(std::string_view log);

/// The first line in which a check tells wrong data outside of a table, as one line for people; empty: there is none.
[[nodiscard]] std::string wrong_data_in(std::string_view log);

/// The reason why a log has no result: its words of failure, or else its last line.
[[nodiscard]] std::string why_it_failed(std::string_view log);

/// The first line in which a program or MPI tells its own failure, as one line for people; empty where there is none.
/// Behind a result only this counts: launchers also complain of processes that a script has ended when all was done.
[[nodiscard]] std::string failure_of_program_in(std::string_view log);

/// The first line that says that a process was ended or lost its partner, as one line for people; empty where there is
/// none. Complaints that do not end a program do not count.
[[nodiscard]] std::string how_it_broke_off(std::string_view log);

}  // namespace fabricbench::cluster
