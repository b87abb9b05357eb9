#include "common/host/checks/checks.h"
#include "common/host/checks/settings.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace fabricbench::host {
namespace {

/// What launchers and jobs set for each rank or host by themselves.
bool is_of_one_host(const std::string& name) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"NCCL_HOSTID", "NCCL_DEBUG_FILE", "NCCL_TOPO_DUMP_FILE", "NCCL_GRAPH_DUMP_FILE", "NCCL_COMM_ID"});
  constexpr auto kOfLauncher = std::to_array<std::string_view>(
      {"OMPI_MCA_ess", "OMPI_MCA_orte", "OMPI_MCA_prte", "OMPI_MCA_pmix", "OMPI_MCA_initial_wdir", "OMPI_MCA_shmem_",
       "OMPI_MCA_mpi_yield", "OMPI_MCA_hwloc_base"});
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
         std::any_of(kOfLauncher.begin(), kOfLauncher.end(),
                     [&](std::string_view begin) { return name.starts_with(begin); });
}

/// NCCL takes a line of its file as it is: all before `=` is the name. Source: NCCL's src/misc/param.cc.
void examine_nccl_file(Look& host, const std::string& file) {
  const auto text = host.text_if_any(file);
  if (!text) return;
  for (const std::string& line : host.lines(file)) {
    const std::string name = line.substr(0, line.find('='));
    const std::string value = line.substr(std::min(name.size() + 1, line.size()));
    const bool is_assignment = name.size() < line.size();
    if (line.empty() || line.starts_with('#')) continue;
    const bool is_odd_name = !is_assignment || name.find_first_of(" \t") != std::string::npos;
    const bool is_odd_value = value.find_first_of(" \t\"'") != std::string::npos;
    if (!is_odd_name && !is_odd_value) continue;
    host.report({.measured = fmt::format("{}: '{}' sets no variable as it was meant", file, line),
                 .expected = "NAME=value, without blanks, quotes and export",
                 .expected_by = "how NCCL reads the file",
                 .consequence = is_odd_name ? "NCCL runs without this setting, and does not say so"
                                            : "blanks and quotes become a part of the value",
                 .next = fmt::format("correct the line in {}", file)});
  }
}

void examine_configuration(Look& host) {
  const auto state = [&](const Settings& settings) {
    for (const auto& [name, setting] : settings) {
      if (is_of_one_host(name)) continue;
      host.state({.key = "setting",
                  .among = name,
                  .device = name,
                  .value = fmt::format("{} (from {})", setting.value, setting.origin)});
    }
  };
  host.attempt([&] { state(nccl_settings(host)); });
  host.attempt([&] { state(ucx_settings(host)); });
  host.attempt([&] { state(mpi_settings(host)); });
  for (const char* beginning : {"GLOO_", "FI_"}) host.attempt([&] { state(environment_settings(host, beginning)); });
  host.each(nccl_files(host), [&](const std::string& file) { examine_nccl_file(host, file); });
}

}  // namespace

Check configuration_check() {
  return {.name = "configuration",
          .what = "NCCL, UCX and MPI are told the same on all hosts, by variables and by their files.",
          .reads =
              "variables NCCL_*, UCX_*, OMPI_MCA_*, GLOO_*, FI_*; /etc/nccl.conf, ~/.nccl.conf or NCCL_CONF_FILE, "
              "ucx.conf, mca-params.conf",
          .look = examine_configuration,
          .compared = {{.key = "setting",
                        .title = "setting",
                        .consequence = "ranks choose other networks and algorithms than their peers, and may hang",
                        .next = "set it everywhere (mpirun -x NAME, srun --export) or nowhere",
                        .is_count = true}}};
}

}  // namespace fabricbench::host
