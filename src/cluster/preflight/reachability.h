// Whether every host reaches every other one over each of its networks, as MPI and NCCL will need it: a connection to a
// random port, and messages of more than a packet, which a network with a smaller MTU between them loses.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/backends/sockets/socket.h"
#include "common/core/ownership.h"
#include "common/core/units.h"
#include "common/record/preflight.h"

namespace fabricbench::cluster {

/// An address of a host that others may connect to.
struct HostAddress {
  std::string interface;
  sockets::SocketAddress at;
  sockets::Address mask;
};

/// How far a probe of one host by another came.
enum class ProbeEnd {
  kAnswered,   ///< all came back
  kRefused,    ///< nobody listens there: something else has the address, or a firewall refuses
  kNoRoute,    ///< the kernel knows no way
  kNoAnswer,   ///< the connection was not established in time
  kOnlySmall,  ///< one byte came back, and a large message did not
  kBroken,     ///< the connection was lost
  kNotTried    ///< no time was left
};

/// A probe that was not answered.
struct Unreached {
  int from = 0;  ///< numbers of hosts
  int to = 0;
  std::string interface;
  ProbeEnd end = ProbeEnd::kNoAnswer;
};

/// Answers probes from its creation to its end, on all addresses of this host, by a thread of its own.
class Responder : NotCopied {
 public:
  /// Throws Error if there is no socket.
  Responder();
  ~Responder();
  /// Addresses of interfaces that are up, except loopback, link-local ones, and those of bridges to containers and
  /// virtual machines, which are the same on all hosts.
  [[nodiscard]] const std::vector<HostAddress>& addresses() const { return addresses_; }

 private:
  struct Serving;
  std::unique_ptr<Serving> serving_;
  std::vector<HostAddress> addresses_;
};

/// What time probes may take.
struct ProbeLimits {
  Seconds one = 3;  ///< for each
  Seconds all = 20;
  std::size_t at_once = 16;
};

/// Probes all other hosts from host `own`, those with higher numbers first, so that at no time many probe the same
/// one. `addresses`: of all hosts. Networks that this host has no address in are left out.
[[nodiscard]] std::vector<Unreached> probe_hosts(const std::vector<std::vector<HostAddress>>& addresses, int own,
                                                 const ProbeLimits& limits);

/// What is to blame, one line a cause: hosts that nobody reaches, or that reach nobody, over an interface, and else
/// pairs. And addresses that two hosts have, and hosts without an interface that most others have. `names`: of hosts.
[[nodiscard]] std::vector<PreflightFinding> judge_reachability(const std::vector<std::string>& names,
                                                               const std::vector<std::vector<HostAddress>>& addresses,
                                                               const std::vector<Unreached>& unreached);

/// Hosts with probes that were not tried, for want of time.
[[nodiscard]] std::vector<PreflightUnseen> untried_probes(const std::vector<std::string>& names,
                                                          const std::vector<Unreached>& unreached);

template <typename Visitor, record::Of<HostAddress> Record>
void describe(Visitor& visitor, Record& address) {
  visitor.internal(address.interface, address.at.address.family, address.at.address.bytes, address.at.port,
                   address.mask.family, address.mask.bytes);
}

template <typename Visitor, record::Of<Unreached> Record>
void describe(Visitor& visitor, Record& unreached) {
  visitor.internal(unreached.from, unreached.to, unreached.interface, unreached.end);
}

}  // namespace fabricbench::cluster
