#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/backends/rdma_cm/link.h"
#include "common/core/rdma_options.h"

namespace fabricbench::rdma_cm {

/// The settings of one side's connections.
struct SideSettings {
  Transport transport = Transport::kRc;
  std::uint32_t messages = 1;  ///< per direction of a connection
  Seconds limit = 5;           ///< of a step
  std::string peer;            ///< such as `rank 1 on node-07 (10.0.0.7)`
  std::function<Seconds()> clock;
};

/// The results of one connection's messages.
struct Exchanged {
  std::optional<Seconds> first;  ///< time from sending the first message until the other side's first message arrived
  std::uint64_t lost = 0;        ///< of those expected
  std::uint64_t wrong = 0;
  std::string first_wrong;  ///< which message, and which byte
};

/// The messages of one connection. The connecting side sends one, and the rest after one has come back. The other side
/// sends its messages after the first has arrived, because a datagram has to tell it the address of the sender.
class Exchange {
 public:
  /// Does not own its arguments. `connects`: true on the connecting side.
  Exchange(Link& link, const SideSettings& settings, std::uint64_t connection, bool connects);

  /// Counts datagrams that do not arrive. Throws Error (timeout), without the peer's name, if another message does not
  /// arrive in time or an own message does not complete.
  [[nodiscard]] Exchanged exchange_messages();

 private:
  void send(std::uint32_t begin, std::uint32_t end);
  [[nodiscard]] bool await_arrivals(std::uint32_t count, Seconds patience);
  void await_sent();
  bool progress();
  void take(const Arrival& arrival);

  Link& link_;
  const SideSettings& settings_;
  std::uint64_t connection_;
  bool connects_;
  std::vector<bool> seen_;
  std::uint32_t arrived_ = 0;
  std::uint32_t posted_ = 0;
  std::uint32_t sent_ = 0;
  Seconds began_ = 0;
  Exchanged result_;
};

}  // namespace fabricbench::rdma_cm
