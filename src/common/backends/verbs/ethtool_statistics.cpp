#include "common/backends/verbs/ethtool_statistics.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace fabricbench::verbs {
namespace {

/// Asks the driver of one interface.
class EthtoolSocket {
 public:
  explicit EthtoolSocket(const std::string& interface) : socket_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    std::copy_n(interface.c_str(), std::min(interface.size(), sizeof request_.ifr_name - 1), request_.ifr_name);
  }
  EthtoolSocket(const EthtoolSocket&) = delete;
  EthtoolSocket& operator=(const EthtoolSocket&) = delete;
  ~EthtoolSocket() {
    if (socket_ >= 0) close(socket_);
  }

  /// Whether the driver has answered. `command` begins with its number, and takes the answer.
  [[nodiscard]] bool ask(void* command) {
    request_.ifr_data = static_cast<char*>(command);
    return socket_ >= 0 && ioctl(socket_, SIOCETHTOOL, &request_) == 0;
  }

 private:
  int socket_;
  ifreq request_{};
};

/// An answer: a header of type `Header`, then `count` elements of `bytes` each.
template <typename Header>
class Answer {
 public:
  Answer(std::uint32_t command, std::uint32_t count, std::size_t bytes)
      : memory_((sizeof(Header) + count * bytes) / sizeof(std::uint64_t) + 1) {
    header()->cmd = command;
  }

  [[nodiscard]] Header* header() { return reinterpret_cast<Header*>(memory_.data()); }
  [[nodiscard]] const std::byte* elements() const {
    return reinterpret_cast<const std::byte*>(memory_.data()) + sizeof(Header);
  }

 private:
  std::vector<std::uint64_t> memory_;
};

}  // namespace

PortCounters ethtool_statistics(const std::string& interface) {
  EthtoolSocket driver(interface);
  ethtool_drvinfo info{};
  info.cmd = ETHTOOL_GDRVINFO;
  if (!driver.ask(&info) || info.n_stats == 0) return {};
  Answer<ethtool_gstrings> names(ETHTOOL_GSTRINGS, info.n_stats, ETH_GSTRING_LEN);
  names.header()->string_set = ETH_SS_STATS;
  names.header()->len = info.n_stats;
  Answer<ethtool_stats> values(ETHTOOL_GSTATS, info.n_stats, sizeof(std::uint64_t));
  values.header()->n_stats = info.n_stats;
  if (!driver.ask(names.header()) || !driver.ask(values.header())) return {};
  // The kernel refuses a number that has changed in between by answering with none.
  const std::uint32_t count = std::min({info.n_stats, names.header()->len, values.header()->n_stats});
  PortCounters statistics;
  for (std::size_t i = 0; i < count; ++i) {
    const auto* const name = reinterpret_cast<const char*>(names.elements() + i * ETH_GSTRING_LEN);
    std::uint64_t value = 0;
    std::memcpy(&value, values.elements() + i * sizeof value, sizeof value);
    statistics.emplace(std::string(name, strnlen(name, ETH_GSTRING_LEN)), value);
  }
  return statistics;
}

}  // namespace fabricbench::verbs
