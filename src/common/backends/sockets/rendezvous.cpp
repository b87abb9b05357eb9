#include "common/backends/sockets/rendezvous.h"

#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "common/core/error.h"
#include "common/core/random.h"
#include "common/record/packing.h"

namespace fabricbench::sockets {
namespace {

/// An exit status, and the result or the error.
using Outcome = std::pair<ExitStatus, std::string>;

Outcome outcome_of(const std::string& name, const std::function<std::string()>& make) {
  try {
    return {ExitStatus::kOk, make()};
  } catch (const Error& error) {
    return {error.status(), fmt::format("{}: {}", name, error.what())};
  } catch (const std::exception& error) {
    return {ExitStatus::kFailure, fmt::format("{}: {}", name, error.what())};
  }
}

[[noreturn]] void rethrow(ExitStatus status, const std::string& message) {
  if (status == ExitStatus::kUsage) throw UsageError(message);
  throw Error(status, message);
}

constexpr int kMostStreams = 64;

/// Raises the limit on open files if necessary for this many connections.
void require_descriptors(std::size_t connections) {
  constexpr rlim_t kOthers = 256;  // such as MPI's
  const rlim_t needed = connections + kOthers;
  rlimit limit{};
  check(::getrlimit(RLIMIT_NOFILE, &limit), "getrlimit");
  if (limit.rlim_cur >= needed) return;
  if (limit.rlim_max < needed) {
    throw Error(ExitStatus::kMissing,
                fmt::format("{} connections take more open files than the {} that a process may have here; lower "
                            "--streams or the number of ranks, or raise the limit (ulimit -Hn)",
                            connections, limit.rlim_max));
  }
  limit.rlim_cur = needed;
  check(::setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
}

}  // namespace

std::vector<std::string> gather_or_throw(const Gather& gather, const std::string& name,
                                         const std::function<std::string()>& make) {
  std::vector<std::string> results = gather(record::pack(outcome_of(name, make)));
  for (std::string& result : results) {
    auto [status, text] = record::unpack<Outcome>(result);
    if (status != ExitStatus::kOk) rethrow(status, text);
    result = std::move(text);
  }
  return results;
}

std::vector<Socket> listen_at_all(const std::vector<OwnAddress>& own, Bytes buffer) {
  std::vector<Socket> listeners;
  std::string reasons;
  for (const OwnAddress& one : own) {
    try {
      listeners.push_back(listen_at(one.address, buffer));
    } catch (const Error& error) {
      reasons += fmt::format("{}{}", reasons.empty() ? "" : "; ", error.what());
    }
  }
  if (listeners.empty()) {
    throw Error(ExitStatus::kMissing,
                fmt::format("cannot listen at any address: {}; choose another one with --interface", reasons));
  }
  return listeners;
}

Rendezvous::Rendezvous(int rank, int ranks, const TcpSettings& settings)
    : rank_(rank), ranks_(ranks), settings_(settings), partners_(partners(rank, ranks, settings.pairs)) {
  if (settings.streams < 1 || settings.streams > kMostStreams) {
    throw UsageError(fmt::format("{} streams are not possible; use 1 to {}", settings.streams, kMostStreams));
  }
}

std::vector<Peer> Rendezvous::connect(const Gather& gather) {
  for (const std::string& text : gather_or_throw(gather, settings_.name, [&] { return describe_this_rank(); })) {
    addresses_.push_back(record::unpack<RankAddresses>(text));
  }
  ExpectedPeers list{.job = addresses_.front().job, .rank = rank_, .ranks = {}, .streams = settings_.streams};
  std::copy_if(partners_.begin(), partners_.end(), std::back_inserter(list.ranks),
               [&](int partner) { return partner < rank_; });
  Acceptor acceptor(std::move(listeners_), std::move(list));

  std::vector<Peer> peers(static_cast<std::size_t>(ranks_));
  // After this gather_or_throw every rank's connections are established, and no rank waits for another.
  try {
    (void)gather_or_throw(gather, settings_.name, [&] {
      dial_higher(peers);
      return std::string();
    });
  } catch (const Error&) {
    throw_fault_of_acceptors(gather, acceptor);
    throw;
  }
  for (auto& [peer, streams] : acceptor.take()) peers[static_cast<std::size_t>(peer)].streams = std::move(streams);
  for (std::size_t rank = 0; rank < peers.size(); ++rank) {
    Peer& peer = peers[rank];
    for (const Socket& stream : peer.streams) make_ready(stream, settings_.time_limit_s);
    if (!peer.streams.empty()) {
      peer.name = fmt::format("{} ({})", addresses_[rank].name, to_text(peer_address(peer.streams.front())));
    }
  }
  return peers;
}

/// The ranks that were not let in know less about the reason than the one that could not accept them.
void Rendezvous::throw_fault_of_acceptors(const Gather& gather, Acceptor& acceptor) const {
  const std::vector<std::string> faults = gather(acceptor.stop());
  const auto fault = std::find_if(faults.begin(), faults.end(), [](const std::string& text) { return !text.empty(); });
  if (fault == faults.end()) return;
  throw Error(ExitStatus::kMissing,
              fmt::format("{}: {}", addresses_[static_cast<std::size_t>(fault - faults.begin())].name, *fault));
}

std::string Rendezvous::describe_this_rank() {
  require_descriptors(partners_.size() * static_cast<std::size_t>(settings_.streams));
  own_ = choose_addresses(settings_.interface, interfaces());
  listeners_ = listen_at_all(own_, settings_.socket_buffer);
  RankAddresses own{.name = settings_.name, .network = settings_.network, .job = draw_secret(), .endpoints = {}};
  for (const Socket& listener : listeners_) own.endpoints.push_back(own_endpoint(listener.get()));
  return record::pack(own);
}

void Rendezvous::dial_higher(std::vector<Peer>& peers) const {
  Dialing dialing{.job = addresses_.front().job,
                  .rank = rank_,
                  .streams = settings_.streams,
                  .sources = {},
                  .buffer = settings_.socket_buffer,
                  .limit_s = settings_.connect_limit_s};
  if (!settings_.interface.empty()) {
    for (const OwnAddress& own : own_) dialing.sources.push_back(own.address);
  }
  for (const int partner : partners_) {
    if (partner < rank_) continue;
    const auto place = static_cast<std::size_t>(partner);
    peers[place].streams = dial({partner, addresses_[place].name, reachable(addresses_[place])}, dialing);
  }
}

/// The endpoints of another rank that may be reachable from here, those in an own network first. Bridges and virtual
/// machines give many hosts the same address, which would lead back to this host.
std::vector<SocketAddress> Rendezvous::reachable(const RankAddresses& other) const {
  const std::string& network = addresses_[static_cast<std::size_t>(rank_)].network;
  const bool together = !network.empty() && other.network == network;
  const auto is_local = [](const SocketAddress& endpoint) { return is_loopback(endpoint.address); };
  std::vector<SocketAddress> chosen;
  if (together && settings_.interface.empty()) {
    std::copy_if(other.endpoints.begin(), other.endpoints.end(), std::back_inserter(chosen), is_local);
    if (!chosen.empty()) return chosen;
  }
  std::copy_if(other.endpoints.begin(), other.endpoints.end(), std::back_inserter(chosen),
               [&](const SocketAddress& one) { return together || !(is_local(one) || owns(one.address)); });
  put_near_first(chosen, own_);
  return chosen;
}

bool Rendezvous::owns(const Address& address) const {
  return std::any_of(own_.begin(), own_.end(), [&](const OwnAddress& own) { return own.address == address; });
}

void put_near_first(std::vector<SocketAddress>& endpoints, const std::vector<OwnAddress>& own) {
  std::stable_partition(endpoints.begin(), endpoints.end(), [&own](const SocketAddress& endpoint) {
    return std::any_of(own.begin(), own.end(), [&endpoint](const OwnAddress& one) {
      return in_one_network(one.address, endpoint.address, one.mask);
    });
  });
}

std::vector<int> partners(int rank, int ranks, const std::vector<Pair>& pairs) {
  std::vector<int> found;
  if (pairs.empty()) {
    for (int other = 0; other < ranks; ++other) {
      if (other != rank) found.push_back(other);
    }
    return found;
  }
  for (const Pair& pair : pairs) {
    for (const int one : {pair.first, pair.second}) {
      if (one < 0 || one >= ranks) throw UsageError(fmt::format("there is no rank {} among {} ranks", one, ranks));
    }
    if (pair.first == rank && pair.second != rank) found.push_back(pair.second);
    if (pair.second == rank && pair.first != rank) found.push_back(pair.first);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

Address peer_address(const Socket& socket) {
  SocketName name;
  check(::getpeername(socket.get(), name.get(), &name.size), "getpeername");
  return endpoint(name.get()).address;
}

}  // namespace fabricbench::sockets
