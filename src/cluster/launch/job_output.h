// What a job has printed: the records in it, and why it failed.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/record/read.h"

namespace fabricbench::cluster {

/// Standard output and standard error of a job, or one of them, in the order in which reasons are looked for.
using Texts = std::span<const std::string_view>;

inline constexpr int kMpirunTimedOut = 110;  ///< status of Open MPI's mpirun after its --timeout

/// Whether a job's status says that its launcher, or who started that, has ended it after its limit.
[[nodiscard]] bool is_timed_out(int status);

/// The lines of a text, without line ends.
[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);

/// One line without control characters, of so many characters at most: short enough for a table.
[[nodiscard]] std::string cleaned_line(std::string_view text, std::size_t most = 400);

/// Calls `take` for each line of JSON, with its kind and a reader that is open there. A launcher may have put text
/// before one, or truncated it; a line that cannot be read is left out, also where `take` finds that.
void for_each_record(std::string_view text,
                     const std::function<void(const std::string& kind, record::LineReader& reader)>& take);

/// Whether there is a record of this kind.
[[nodiscard]] bool has_record(std::string_view text, std::string_view kind);

/// The part of a host's name to compare: node01 for alice@node01.cluster; an address as a whole.
[[nodiscard]] std::string short_host_name(std::string_view host);

/// The first line of the launch agent or of srun that does not begin with these words; empty if there is none.
[[nodiscard]] std::string said_by_agent(Texts texts, std::span<const std::string_view> without = {});

/// Why a job failed: the benchmark's own first message, or else the first line of the launch agent or of srun, or
/// mpirun's explanation, shortened; empty if nobody said anything.
[[nodiscard]] std::string first_complaint(std::string_view program, Texts texts);

}  // namespace fabricbench::cluster
