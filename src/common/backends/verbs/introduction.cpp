#include "common/backends/verbs/introduction.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "common/core/error.h"

namespace fabricbench::verbs {
namespace {

void write_gid(std::ostringstream& text, const Gid& gid) {
  text << ' ' << gid.index << ' ' << static_cast<int>(gid.type);
  for (const std::uint8_t byte : gid.raw) text << ' ' << static_cast<int>(byte);
}

Gid read_gid(std::istringstream& text) {
  Gid gid;
  int type = 0;
  text >> gid.index >> type;
  gid.type = static_cast<GidType>(type);
  for (std::uint8_t& byte : gid.raw) {
    int value = 0;
    text >> value;
    byte = static_cast<std::uint8_t>(value);
  }
  return gid;
}

void check_alike(const Introduction& first, const Introduction& second) {
  if (first.port.ethernet == second.port.ethernet) return;
  const auto kind = [](const PortFacts& port) { return port.ethernet ? "Ethernet (RoCE)" : "InfiniBand"; };
  throw Error(ExitStatus::kMissing,
              fmt::format("verbs: {} port {} of host {} is {}, and {} port {} of host {} is {}; choose devices of one "
                          "network with -d",
                          first.port.device, first.port.port, first.host, kind(first.port), second.port.device,
                          second.port.port, second.host, kind(second.port)));
}

int agreed_mtu(const Introduction& first, const Introduction& second, std::int64_t asked) {
  const int most = std::min(first.port.mtu, second.port.mtu);
  if (asked <= most) return asked > 0 ? static_cast<int>(asked) : most;
  const Introduction& smaller = first.port.mtu <= second.port.mtu ? first : second;
  throw UsageError(fmt::format("-m {}: {} port {} of host {} has an MTU of {}; use -m {} or less, or leave it out",
                               asked, smaller.port.device, smaller.port.port, smaller.host, most, most));
}

int agreed_outstanding(const Introduction& first, const Introduction& second, std::int64_t asked) {
  const int most = std::min(first.port.most_outstanding, second.port.most_outstanding);
  if (asked <= most) return asked > 0 ? static_cast<int>(asked) : most;
  throw UsageError(fmt::format("-o {}: {} of host {} and {} of host {} have {} reads and atomics under way at most",
                               asked, first.port.device, first.host, second.port.device, second.host, most));
}

}  // namespace

std::string to_text(const Introduction& introduction) {
  const PortFacts& port = introduction.port;
  std::ostringstream text;
  text << introduction.host << ' ' << port.device << ' ' << port.port << ' ' << port.ethernet << ' ' << port.lid << ' '
       << port.mtu << ' ' << port.most_outstanding << ' ' << port.gids.size();
  for (const Gid& gid : port.gids) write_gid(text, gid);
  text << ' ' << introduction.queue_pairs.size();
  for (const std::uint32_t number : introduction.queue_pairs) text << ' ' << number;
  for (const std::uint32_t number : introduction.sequence_numbers) text << ' ' << number;
  return text.str();
}

Introduction parse_introduction(const std::string& text) {
  Introduction made;
  std::istringstream words(text);
  std::size_t gids = 0;
  std::size_t queue_pairs = 0;
  PortFacts& port = made.port;
  words >> made.host >> port.device >> port.port >> port.ethernet >> port.lid >> port.mtu >> port.most_outstanding >>
      gids;
  for (std::size_t i = 0; words && i < gids; ++i) port.gids.push_back(read_gid(words));
  words >> queue_pairs;
  for (std::size_t i = 0; words && i < 2 * queue_pairs; ++i) {
    std::uint32_t number = 0;
    words >> number;
    (i < queue_pairs ? made.queue_pairs : made.sequence_numbers).push_back(number);
  }
  if (!words) throw Error(ExitStatus::kFailure, "verbs: cannot read the introduction of the pair's other rank");
  return made;
}

Agreement agree(const Introduction& first, const Introduction& second, std::int64_t mtu, std::int64_t outstanding,
                const std::optional<std::int64_t>& gid) {
  check_alike(first, second);
  Agreement agreed;
  agreed.mtu = agreed_mtu(first, second, mtu);
  agreed.outstanding = agreed_outstanding(first, second, outstanding);
  agreed.gids = gid ? check_gids(first.port.gids, second.port.gids, static_cast<int>(*gid))
                    : choose_gids(first.port.gids, second.port.gids);
  return agreed;
}

}  // namespace fabricbench::verbs
