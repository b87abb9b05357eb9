#pragma once

#include <string>
#include <vector>

#include "cluster/readings.h"
#include "cluster/tools/record_line.h"

namespace fabricbench::cluster {

/// A sweep as scripts/sweep_pairs.sh records it (docs/output.md): a line that names the hosts, a line for each host
/// whose leaf is known, and one for each reading, of messages of `size_bytes`.
[[nodiscard]] std::string records_of(const Sweep& sweep, std::int64_t size_bytes);

/// A reading as a line, without its end; a key without a value is null.
[[nodiscard]] std::string reading_line(const Record& record);

/// The line that names all hosts of a sweep, without its end.
[[nodiscard]] std::string sweep_line(const std::vector<std::string>& hosts);

}  // namespace fabricbench::cluster
