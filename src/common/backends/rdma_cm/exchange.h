#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/backends/rdma_cm/link.h"
#include "common/core/rdma_options.h"

namespace fabricbench::rdma_cm {

/// What one side knows of its connections.
struct SideSettings {
  Transport transport = Transport::kRc;
  std::uint32_t messages = 1;  ///< in each direction of a connection
  Seconds limit = 5;           ///< of a step
  std::string peer;            ///< such as `rank 1 on node-07 (10.0.0.7)`
  std::function<Seconds()> clock;
};

/// What came of the messages of one connection.
struct Exchanged {
  std::optional<Seconds> first;  ///< from sending the first until the first of the other side was there
  std::uint64_t lost = 0;        ///< of those that were to come
  std::uint64_t wrong = 0;
  std::string first_wrong;  ///< which, and where
};

/// The messages of one connection. The side that connects sends one, and the rest when one has come back; the other
/// side sends its own when the first has come: a datagram has to tell it whom to answer.
class Exchange {
 public:
  /// Does not own what it is given. `connects`: the side that connected.
  Exchange(Link& link, const SideSettings& settings, std::uint64_t connection, bool connects);

  /// Datagrams that do not come are counted. Throws Error (timeout), without the peer's name, where another message
  /// does not come in time, or one of one's own is not done with.
  [[nodiscard]] Exchanged run();

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
