// Lists of hosts, as people, launchers and schedulers write them: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fabricbench::cluster {

/// Maximum number of hosts in a list. A range with more is a typing error.
inline constexpr std::int64_t kMostHosts = 100'000;

struct Host {
  std::string name;                   ///< as a launcher takes it: `node01`, `alice@node01`, `fe80::1`
  std::optional<std::int64_t> slots;  ///< number of processes; nothing: not given
};

/// Hosts from one or several lists, each once, in the order of their first appearance. A host that is named again adds
/// its slots, or 1.
class HostList {
 public:
  /// Adds what an option such as -H or a variable of the environment holds: hosts with commas or blanks between them.
  /// A host is a name or an address, of IPv6 with or without `[]`. `user@` may stand before it and its slots, `:8` or
  /// `:*`, behind it. Brackets hold ranges: `node[01-16,20]` keeps the zeros, `node[0-6/2]` takes every second number,
  /// and `r[1-2]n[1-4]` is eight hosts. `where` names the list in messages, such as `-H`.
  /// Throws UsageError that names the item and says what is wrong with it.
  void add_list(std::string_view list, std::string_view where);

  /// Adds what a host file holds, with `#` before comments: of Open MPI (`host slots=8 max_slots=8`), MPICH and Intel
  /// MPI (`host:8`), Slurm (`node[01-16]`), PBS and LSF (a line for each slot), a Kubernetes MPIJob (one of the first
  /// two), or what $LSB_MCPU_HOSTS holds (`a 8 b 8`). Throws UsageError that names `where` and the line.
  void add_file(std::string_view text, std::string_view where);

  [[nodiscard]] const std::vector<Host>& hosts() const { return hosts_; }
  [[nodiscard]] std::vector<std::string> names() const;

  /// Removes the hosts of `excluded`, whatever users the two lists name. Returns the names that were not in this list.
  std::vector<std::string> exclude(const HostList& excluded);

 private:
  void add(Host host);

  std::vector<Host> hosts_;
  std::unordered_map<std::string, std::size_t> places_;  // in hosts_, by the name without its user
};

/// Folds names into a hostlist expression, as HostList::add_list, Slurm's scontrol and ClusterShell read it:
/// `node[01-03,07],login1`, `r[1-2]n[1-4]`. Each name is in it once, in natural order (see comes_before), and no other
/// name, provided that HostList takes the names.
[[nodiscard]] std::string fold_hosts(std::span<const std::string> names);

/// Natural order: numbers in names are compared by value, so that `n9` comes before `n10`.
[[nodiscard]] bool comes_before(std::string_view name, std::string_view other);

}  // namespace fabricbench::cluster
