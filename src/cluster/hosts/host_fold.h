#pragma once

#include <span>
#include <string>
#include <string_view>

namespace fabricbench::cluster {

/// The names as a short list that HostList::add_list, Slurm's scontrol and ClusterShell read: `node[01-03,07],login1`,
/// `r[1-2]n[1-4]`. Each once, in order (see comes_before). It holds these names and no others, provided that they are
/// names that HostList takes.
[[nodiscard]] std::string fold_hosts(std::span<const std::string> names);

/// The order of people: numbers in names by their value, so that `n9` comes before `n10`.
[[nodiscard]] bool comes_before(std::string_view name, std::string_view other);

}  // namespace fabricbench::cluster
