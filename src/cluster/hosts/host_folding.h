#pragma once

#include <span>
#include <string>
#include <string_view>

namespace fabricbench::cluster {

/// Folds names into a hostlist expression, as HostList::add_list, Slurm's scontrol and ClusterShell read it:
/// `node[01-03,07],login1`, `r[1-2]n[1-4]`. Each name is in it once, in natural order (see comes_before), and no other
/// name, provided that HostList takes the names.
[[nodiscard]] std::string fold_hosts(std::span<const std::string> names);

/// Natural order: numbers in names are compared by value, so that `n9` comes before `n10`.
[[nodiscard]] bool comes_before(std::string_view name, std::string_view other);

}  // namespace fabricbench::cluster
