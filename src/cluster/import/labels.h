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

}  // namespace fabricbench::cluster
