// What logs of all tools have in common: labels of launchers before their lines, and words of failure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fabricbench::cluster {

/// A log as its tool wrote it.
struct PlainLog {
  std::string text;   ///< without colours and labels; lines keep their numbers
  std::string label;  ///< what stands before the tool's first line and was not understood, so that it is still there
};

/// What a program printed, of an entry of a log in JSON: `{"log":"...\n","stream":"stdout",...}` of docker's json-file,
/// `{"line":"...",...}` of Loki, `{"MESSAGE":"...",...}` of journalctl, `msg` or `message` of others; or of logfmt:
/// `level=info msg="..."`. Nothing where a line is no such entry.
[[nodiscard]] std::optional<std::string> printed_in(std::string_view line);

/// Takes away colours, JSON or logfmt around all lines, and what launchers and collectors of logs put before each line:
/// times, hosts, ranks, pods, as mpirun, srun, pdsh, kubectl, journalctl or ts do. The label of the first line that a
/// tool is known to begin shows the form: words of letters and digits may differ from line to line, what stands between
/// them may not.
[[nodiscard]] PlainLog without_labels(std::string_view text);

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
