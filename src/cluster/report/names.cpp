#include "cluster/report/names.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include <fmt/format.h>

#include "cluster/hosts/host_folding.h"
#include "cluster/hosts/host_list.h"
#include "common/core/error.h"
#include "common/core/plain_text.h"

namespace fabricbench::cluster {

std::string host_name(const Sweep& sweep, std::int32_t host) {
  return printable(sweep.hosts[static_cast<std::size_t>(host)]);
}

std::string test_name(const Sweep& sweep, std::int32_t kind) {
  return printable(sweep.kinds[static_cast<std::size_t>(kind)]);
}

std::string rail_name(const Sweep& sweep, std::int32_t rail) {
  const std::string name = rail < 0 ? "" : printable(sweep.rails[static_cast<std::size_t>(rail)]);
  return name.empty() ? "its only rail" : fmt::format("rail {}", name);
}

std::string listed_name(std::string_view name) {
  constexpr std::string_view kSeparators = " ,[]";
  std::string marked(name);
  std::replace_if(
      marked.begin(), marked.end(),
      [&](char character) { return kSeparators.find(character) != std::string_view::npos; }, '\n');
  return printable(marked);
}

std::string listed_names(std::span<const std::string> names) {
  std::vector<std::string> listed;
  listed.reserve(names.size());
  std::transform(names.begin(), names.end(), std::back_inserter(listed), listed_name);
  return fold_hosts(listed);
}

bool is_host_name(const std::string& name) {
  try {
    HostList list;
    list.add_list(name, "");
    return list.names() == std::vector<std::string>{name};
  } catch (const UsageError&) {
    return false;
  }
}

}  // namespace fabricbench::cluster
