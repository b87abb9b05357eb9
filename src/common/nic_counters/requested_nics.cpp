#include "common/nic_counters/requested_nics.h"

#include <fnmatch.h>
#include <strings.h>

#include <cctype>
#include <functional>
#include <set>

namespace fabricbench {
namespace {

using host::NicKind;
using Environment = std::vector<std::pair<std::string, std::string>>;

Names split(std::string_view list) {
  Names entries;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (comma > 0) entries.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return entries;
}

std::string find_variable(const Environment& environment, std::string_view name) {
  for (const auto& [key, value] : environment) {
    if (key == name) return value;
  }
  return {};
}

/// Removes the sign from the beginning of a list. Returns whether it was there.
bool take_off(char sign, std::string_view& list) {
  const bool found = list.starts_with(sign);
  if (found) list.remove_prefix(1);
  return found;
}

/// Whether an MCA list such as `ob1`, `self,tcp` or `^ucx` selects a component. An unset list selects all.
bool selects(std::string_view list, std::string_view component) {
  if (list.empty()) return true;
  const bool exclude = take_off('^', list);
  return exclude != contains(split(list), component);
}

/// A list, and the meaning of its entries for one NIC.
struct Filter {
  Names entries;
  bool exclude = false;
  std::function<bool(const host::Nic&, const std::string& entry)> matches;

  [[nodiscard]] bool allows(const host::Nic& nic) const {
    return exclude !=
           std::any_of(entries.begin(), entries.end(), [&](const auto& entry) { return matches(nic, entry); });
  }
};

/// The device and the port of `mlx5_0:1`; an interface or a bare device has an empty port.
std::pair<std::string_view, std::string_view> split_port(std::string_view name) {
  const std::size_t colon = std::min(name.find(':'), name.size());
  return {name.substr(0, colon), name.substr(std::min(colon + 1, name.size()))};
}

/// Prefixes, or whole names after `=`; after `^`, all NICs but these. Each sign stands once, before the whole list.
Filter nccl_filter(std::string_view value) {
  const bool exclude = take_off('^', value);
  const bool whole = take_off('=', value);
  Filter filter{split(value), exclude, {}};
  filter.matches = [whole](const host::Nic& nic, const std::string& entry) {
    const auto [device, port] = split_port(nic.name);
    const auto [wanted, wanted_port] = split_port(entry);
    const bool named = whole ? device == wanted : device.starts_with(wanted);
    return !wanted.empty() && named && (wanted_port.empty() || port.empty() || port == wanted_port);
  };
  return filter;
}

/// Names with wildcards; after `^`, all NICs but these. A device of UCX has its port in its name.
Filter ucx_filter(std::string_view value) {
  const bool exclude = take_off('^', value);
  Filter filter{split(value), exclude, {}};
  filter.matches = [](const host::Nic& nic, const std::string& entry) {
    return entry == "all" || fnmatch(entry.c_str(), nic.name.c_str(), 0) == 0;
  };
  return filter;
}

/// Whole names of interfaces, and networks. As in Open MPI, an entry that does not begin with a letter is a network.
Filter tcp_filter(std::string_view value, bool exclude, const std::vector<host::InterfaceAddress>& addresses) {
  Filter filter{split(value), exclude, {}};
  filter.matches = [&addresses](const host::Nic& nic, const std::string& entry) {
    if (std::isalpha(static_cast<unsigned char>(entry.front())) != 0) return nic.name == entry;
    return contains(host::interfaces_in(entry, addresses), nic.name);
  };
  return filter;
}

/// A host, and the requests that have been found for it so far.
struct Asking {
  const Environment& environment;
  const std::vector<host::Nic>& nics;
  std::vector<RequestedNics> asked;
};

void ask(Asking& asking, const std::string& variable, RequestScope scope,
         const std::function<Filter(std::string_view)>& read) {
  const std::string value = find_variable(asking.environment, variable);
  if (value.empty()) return;
  const Filter filter = read(value);
  std::set<std::string> found;
  bool any = false;
  for (const host::Nic& nic : asking.nics) {
    const bool port = nic.kind == NicKind::kRdma;
    if ((scope == RequestScope::kSockets && port) || (scope == RequestScope::kRdma && !port)) continue;
    if (!filter.allows(nic)) continue;
    any = true;
    for (const std::string& name : host::bottom_nics(nic.name, asking.nics)) found.insert(name);
  }
  if (any && found.empty()) return;  // the loopback only
  asking.asked.push_back({variable, value, scope, {found.begin(), found.end()}});
}

void ask_nccl(Asking& asking) {
  const std::string net = find_variable(asking.environment, "NCCL_NET");
  const std::string disabled = find_variable(asking.environment, "NCCL_IB_DISABLE");
  const bool rdma = disabled.empty() || disabled == "0";
  if (rdma && (net.empty() || strcasecmp(net.c_str(), "IB") == 0)) {
    ask(asking, "NCCL_IB_HCA", RequestScope::kRdma, nccl_filter);
  }
  if (net.empty() || strcasecmp(net.c_str(), "Socket") == 0) {
    ask(asking, "NCCL_SOCKET_IFNAME", RequestScope::kSockets, nccl_filter);
  }
}

void ask_mpi(Asking& asking, const std::vector<host::InterfaceAddress>& addresses) {
  const std::string pml = find_variable(asking.environment, "OMPI_MCA_pml");
  const std::string btl = find_variable(asking.environment, "OMPI_MCA_btl");
  if (selects(pml, "ucx")) ask(asking, "UCX_NET_DEVICES", RequestScope::kAny, ucx_filter);
  if (!selects(pml, "ob1")) return;  // no other pml uses btls
  if (selects(btl, "openib")) {
    ask(asking, "OMPI_MCA_btl_openib_if_include", RequestScope::kRdma,
        [](std::string_view value) { return nccl_filter("=" + std::string(value)); });
  }
  if (!selects(btl, "tcp")) return;
  ask(asking, "OMPI_MCA_btl_tcp_if_include", RequestScope::kSockets,
      [&](std::string_view value) { return tcp_filter(value, false, addresses); });
  ask(asking, "OMPI_MCA_btl_tcp_if_exclude", RequestScope::kSockets,
      [&](std::string_view value) { return tcp_filter(value, true, addresses); });
}

}  // namespace

std::vector<RequestedNics> requested_nics(std::string_view backend, const Environment& environment,
                                          const std::vector<host::Nic>& nics,
                                          const std::vector<host::InterfaceAddress>& addresses) {
  Asking asking{environment, nics, {}};
  if (backend == "nccl") ask_nccl(asking);
  if (backend == "mpi") ask_mpi(asking, addresses);
  return asking.asked;
}

std::vector<RequestedNics> requested_interface(const std::string& value, const std::string& name,
                                               const std::vector<host::Nic>& nics) {
  const std::string option = "--interface";
  const Environment given = {{option, value}};
  Asking asking{given, nics, {}};
  ask(asking, option, RequestScope::kSockets, [&](std::string_view) {
    return Filter{{name}, false, [](const host::Nic& nic, const std::string& entry) { return nic.name == entry; }};
  });
  return asking.asked;
}

}  // namespace fabricbench
