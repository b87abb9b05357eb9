// Lists and files of hosts.

#include "cluster/hosts/host_list.h"

#include "common/core/plain_text.h"
#include "readers.h"
#include "support.h"

using namespace fabricbench;

namespace {

void check(const cluster::HostList& list) {
  for (const cluster::Host& host : list.hosts()) fuzz::require(fault_of_host_name(host.name).empty());
  if (list.hosts().size() > 10'000) return;
  const std::vector<std::string> names = list.names();
  cluster::HostList again;
  again.add_list(cluster::fold_hosts(names), "-H");
  fuzz::require(again.hosts().size() == names.size());
}

}  // namespace

void fuzz::read_hosts(std::string_view input) {
  fuzz::tolerate([&] {
    cluster::HostList list;
    list.add_list(input, "-H");
    check(list);
  });
  fuzz::tolerate([&] {
    cluster::HostList list;
    list.add_file(input, "hosts");
    check(list);
  });
}
