#include "cluster/preflight/nic_watch.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "cluster/hosts/host_list.h"
#include "common/host/files.h"

namespace fabricbench::cluster {
namespace {

namespace fs = std::filesystem;

/// Parts of names of counters that count no traffic.
constexpr std::array<std::string_view, 14> kOfEvents = {"drop", "err",    "discard", "miss",    "fifo",
                                                        "over", "pause",  "timeout", "retrans", "nak",
                                                        "cnp",  "out_of", "downed",  "ecn"};

/// Counters of events that slow links and healthy congestion control have as well.
constexpr std::array<std::string_view, 3> kUsual = {"cnp", "ecn", "pause"};

template <std::size_t kCount>
bool has_part(std::string_view name, const std::array<std::string_view, kCount>& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

/// The folders with the counters of `eth0`, or of `mlx5_0:1`.
std::vector<fs::path> folders_of(const fs::path& root, const std::string& nic) {
  const std::size_t colon = nic.find(':');
  if (colon == std::string::npos) return {root / "sys/class/net" / nic / "statistics"};
  const fs::path port = root / "sys/class/infiniband" / nic.substr(0, colon) / "ports" / nic.substr(colon + 1);
  return {port / "counters", port / "hw_counters"};
}

}  // namespace

NicWatch::NicWatch(const fs::path& root) : root_(root), reader_(root), bytes_(reader_.read()) {
  for (const host::NicCounter& nic : bytes_) events_[nic.name] = events_of(nic);
}

NicWatch::Events NicWatch::events_of(const host::NicCounter& nic) const {
  Events events;
  for (const fs::path& folder : folders_of(root_, nic.name)) {
    std::error_code error;
    for (fs::directory_iterator file(folder, error); !error && file != fs::directory_iterator();
         file.increment(error)) {
      const std::string name = file->path().filename().string();
      if (!has_part(name, kOfEvents)) continue;
      if (const auto count = host::read_integer<std::uint64_t>(file->path())) events[name] = *count;
    }
  }
  return events;
}

std::vector<PreflightTraffic> NicWatch::next(const std::string& host, Seconds now) {
  const std::vector<host::NicCounter> bytes = reader_.read();
  const Seconds took = now - std::exchange(last_, now);
  std::vector<PreflightTraffic> traffic;
  for (const host::NicCounter& nic : host::nic_traffic(std::exchange(bytes_, bytes), bytes)) {
    if (nic.kind == host::NicKind::kLoopback) continue;
    const Events before = std::exchange(events_[nic.name], events_of(nic));
    PreflightTraffic each{host, nic.name, now, took, nic.tx_bytes, nic.rx_bytes, {}};
    for (const auto& [name, count] : events_[nic.name]) {
      const auto old = before.find(name);
      if (old != before.end() && count > old->second) each.events.push_back({name, count - old->second});
    }
    if (nic.tx_bytes + nic.rx_bytes > 0 || !each.events.empty()) traffic.push_back(std::move(each));
  }
  return traffic;
}

std::vector<PreflightFinding> judge_traffic(const std::vector<PreflightTraffic>& traffic) {
  std::map<std::pair<std::string, std::string>, std::map<std::string, std::uint64_t>> by_host;  // counter and NIC
  for (const PreflightTraffic& each : traffic) {
    for (const auto& [name, count] : each.events) by_host[{name, each.nic}][each.host] += count;
  }
  std::vector<PreflightFinding> found;
  for (const auto& [counter, hosts] : by_host) {
    const auto& [name, nic] = counter;
    std::vector<std::string> names;
    std::uint64_t most = 0;
    for (const auto& [host, count] : hosts) {
      names.push_back(host);
      most = std::max(most, count);
    }
    found.push_back({"nic_counters",
                     fold_hosts(names),
                     static_cast<std::int64_t>(names.size()),
                     {.level = has_part(name, kUsual) ? host::CheckLevel::kNote : host::CheckLevel::kWarning,
                      .device = nic,
                      .measured = fmt::format("{} grew by {}{}", name, names.size() > 1 ? "up to " : "", most),
                      .expected = "no growth",
                      .expected_by = "a link without errors and loss",
                      .consequence = "what is lost is sent again, and collectives wait for it",
                      .next = fmt::format("ethtool -S, or the folder of {} below /sys; cable and switch port", nic)}});
  }
  return found;
}

}  // namespace fabricbench::cluster
