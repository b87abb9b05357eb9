// What pre-flight costs rank 0: gathering and comparing the reports of many hosts.
//
// usage: preflight_scale HOSTS
//
// Packs the report of this host once for each of HOSTS hosts with names of their own, one of which has another kernel,
// then does what rank 0 does. Prints the processor time in seconds, the bytes of a report, and the largest resident
// memory in MiB.

#include <cstdlib>
#include <ctime>

#include <fmt/format.h>

#include "cluster/preflight/host_view.h"
#include "cluster/preflight/overview.h"
#include "common/host/usage.h"
#include "common/record/packing.h"

namespace fabricbench::cluster {
namespace {

std::vector<std::string> reports_of(int hosts) {
  host::HostReport report = host::examine(*view_of_this_host());
  std::vector<std::string> packed;
  for (int number = 1; number <= hosts; ++number) {
    report.host = fmt::format("node{:05}", number);
    host::HostReport own = report;
    if (number == hosts) {
      for (host::CheckResult& result : own.results) {
        for (host::HostFact& fact : result.facts) fact.value += fact.key == "kernel" ? "-other" : "";
      }
    }
    packed.push_back(record::pack(own));
  }
  return packed;
}

void run(int hosts) {
  const std::vector<std::string> packed = reports_of(hosts);
  const std::clock_t began = std::clock();
  Overview overview;
  for (const std::string& each : packed) overview.add(record::unpack<host::HostReport>(each));
  const std::size_t findings = overview.findings().size();
  const double seconds = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
  fmt::print("{} hosts: {:.2f} s of processor time, {} bytes a report, {:.0f} MiB resident at most, {} findings\n",
             hosts, seconds, packed.front().size(),
             static_cast<double>(host::peak_resident_bytes().value_or(0)) / (1 << 20), findings);
}

}  // namespace
}  // namespace fabricbench::cluster

int main(int argc, char** argv) {
  const int hosts = argc > 1 ? std::atoi(argv[1]) : 0;
  if (hosts < 1) {
    fmt::print(stderr, "usage: preflight_scale HOSTS\n");
    return 2;
  }
  fabricbench::cluster::run(hosts);
  return 0;
}
