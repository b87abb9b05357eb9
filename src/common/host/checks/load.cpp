#include "common/host/checks/checks.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include <fmt/format.h>

namespace fabricbench::host {
namespace {

/// Processors of a list of the kernel, `0-3,8`.
std::int64_t size_of_list(Look& host, const std::string& source) {
  std::istringstream ranges(host.text(source));
  std::int64_t size = 0;
  for (std::string range; std::getline(ranges, range, ',');) {
    const std::size_t dash = range.find('-');
    const auto first = host.number_in<std::int64_t>(source, range.substr(0, dash));
    size +=
        1 + (dash == std::string::npos ? first : host.number_in<std::int64_t>(source, range.substr(dash + 1))) - first;
  }
  return size;
}

void examine_load(Look& host) {
  constexpr double kShare = 0.1;
  constexpr double kOwn = 2;  // ranks of this job, and what started them
  const std::string text = host.text("/proc/loadavg");
  const double load = std::strtod(text.c_str(), nullptr);
  if (text.find_first_of("0123456789") != 0) throw NotSeen("/proc/loadavg", "begins with no number");
  const std::int64_t processors = size_of_list(host, "/sys/devices/system/cpu/online");
  if (load < kShare * static_cast<double>(processors) + kOwn) return;
  host.report(
      {.measured = fmt::format("{:.1f} processes ran or waited in the last minute, on {} processors", load, processors),
       .expected = "less than a tenth of the processors",
       .consequence = "ranks of this host are late, and all others wait for them",
       .next = "top; is another job on this host?"});
}

/// Where a listener of that number is. Source: proc_net(5); 0A: it listens.
bool is_taken(Look& host, const std::string& source, std::int64_t port) {
  const std::string ending = fmt::format(":{:04X}", port);
  for (const std::string& line : host.lines(source)) {
    std::istringstream words(line);
    std::string number;
    std::string local;
    std::string remote;
    std::string state;
    words >> number >> local >> remote >> state;
    if (local.ends_with(ending) && state == "0A") return true;
  }
  return false;
}

/// Ports that programs take by a fixed number.
void examine_ports(Look& host) {
  constexpr std::int64_t kPerftest = 18515;
  std::vector<std::pair<std::int64_t, std::string>> ports = {{kPerftest, "perftest's"}};
  if (const auto port = host.text_if_any("env/MASTER_PORT")) {
    ports.emplace_back(host.number_in<std::int64_t>("env/MASTER_PORT", *port), "MASTER_PORT, PyTorch's");
  }
  const std::vector<std::string> tables = host.names("/proc/net");
  const bool has_ipv6 = std::find(tables.begin(), tables.end(), "tcp6") != tables.end();
  for (const auto& [port, whose] : ports) {
    const bool is_in_tcp6 = has_ipv6 && is_taken(host, "/proc/net/tcp6", port);
    if (!is_taken(host, "/proc/net/tcp", port) && !is_in_tcp6) continue;
    host.report({.level = CheckLevel::kNote,
                 .measured = fmt::format("port {} ({}) is taken", port, whose),
                 .expected = "a free port",
                 .consequence = "programs that want it end with 'address already in use'",
                 .next = fmt::format("ss -ltnp sport = :{}", port)});
  }
}

void examine_load_and_ports(Look& host) {
  host.attempt([&] { examine_load(host); });
  host.attempt([&] { examine_ports(host); });
}

}  // namespace

Check load_check() {
  return {.name = "load",
          .what = "The host is idle, and ports that programs take by a fixed number are free.",
          .reads = "/proc/loadavg, /sys/devices/system/cpu/online, /proc/net/{tcp,tcp6}, MASTER_PORT",
          .look = examine_load_and_ports};
}

}  // namespace fabricbench::host
