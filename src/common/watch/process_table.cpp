#include "common/watch/process_table.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <random>
#include <utility>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/core/handle.h"

namespace fabricbench {
namespace {

constexpr std::size_t kMostAddresses = 16;
constexpr std::size_t kActivityBytes = 256;

/// The IPv4 addresses of this host's interfaces, including the loopback, by which ranks of the same host send.
std::vector<sockaddr_in> local_addresses(in_port_t port) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return {};
  const Handle<ifaddrs, &freeifaddrs> owner(list);
  std::vector<sockaddr_in> addresses;
  for (const ifaddrs* entry = list; entry != nullptr && addresses.size() < kMostAddresses; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || entry->ifa_addr->sa_family != AF_INET) continue;
    sockaddr_in address{};
    std::memcpy(&address, entry->ifa_addr, sizeof address);
    address.sin_port = port;
    addresses.push_back(address);
  }
  return addresses;
}

const sockaddr* generic(const sockaddr_in& address) { return reinterpret_cast<const sockaddr*>(&address); }
sockaddr* generic(sockaddr_in& address) { return reinterpret_cast<sockaddr*>(&address); }

}  // namespace

struct ProcessTable::Datagram {
  std::uint64_t job;
  std::uint64_t steps;
  double stuck_s;
  double busy;
  std::int32_t rank;
  bool resting;
  bool is_report;  // or else only that the rank is there
  std::array<char, kActivityBytes> activity;
};

ProcessTable::ProcessTable(const mpi::Communicator& world) : rank_(world.rank()), size_(world.size()) {
  socket_ = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const std::vector<std::uint8_t> message =
      world.broadcast(world.is_root() ? open_and_list_addresses() : std::vector<std::uint8_t>());
  std::memcpy(&job_, message.data(), sizeof job_);
  addresses_.resize((message.size() - sizeof job_) / sizeof(sockaddr_in));
  std::memcpy(addresses_.data(), message.data() + sizeof job_, addresses_.size() * sizeof(sockaddr_in));
}

ProcessTable::~ProcessTable() {
  if (socket_ >= 0) close(socket_);
}

/// Opens the socket, and returns the job's number followed by the addresses. Runs on rank 0.
std::vector<std::uint8_t> ProcessTable::open_and_list_addresses() {
  std::random_device random;
  job_ = (std::uint64_t{random()} << 32) | random();
  sockaddr_in any{};
  any.sin_family = AF_INET;
  socklen_t length = sizeof any;
  std::vector<sockaddr_in> addresses;
  if (bind(socket_, generic(any), sizeof any) == 0 && getsockname(socket_, generic(any), &length) == 0) {
    addresses = local_addresses(any.sin_port);
  }
  std::vector<std::uint8_t> message(sizeof job_ + addresses.size() * sizeof(sockaddr_in));
  std::memcpy(message.data(), &job_, sizeof job_);
  std::memcpy(message.data() + sizeof job_, addresses.data(), addresses.size() * sizeof(sockaddr_in));
  return message;
}

void ProcessTable::report(const ProcessReport& report) {
  if (rank_ == 0) {
    reports_[0] = report;
    take_down_all();
    return;
  }
  Datagram datagram{job_, report.steps, report.stuck_s, report.busy, rank_, report.resting, true, {}};
  report.activity.copy(datagram.activity.data(), kActivityBytes - 1);
  send(datagram);
}

std::set<int> ProcessTable::say_here() {
  Datagram here{};
  here.job = job_;
  here.rank = rank_;
  if (rank_ != 0) send(here);
  take_down_all();
  return std::exchange(here_, {});
}

/// To rank 0. What is lost is sent again soon, and there is nobody to report an error to.
void ProcessTable::send(const Datagram& datagram) {
  for (const sockaddr_in& address : addresses_) {
    (void)sendto(socket_, &datagram, sizeof datagram, 0, generic(address), sizeof address);
  }
}

/// Strangers' datagrams are passed over, and so many at most, so that they cannot keep this up.
void ProcessTable::take_down_all() {
  constexpr int kMost = 100'000;
  Datagram datagram{};
  for (int i = 0; i < kMost; ++i) {
    sockaddr_in from{};
    socklen_t length = sizeof from;
    const ssize_t bytes = recvfrom(socket_, &datagram, sizeof datagram, MSG_TRUNC, generic(from), &length);
    if (bytes < 0 && errno != EINTR && errno != ECONNREFUSED) return;
    if (bytes != static_cast<ssize_t>(sizeof datagram) || datagram.job != job_) continue;
    if (datagram.rank < 0 || datagram.rank >= size_) continue;
    take_down(datagram, from);
  }
}

void ProcessTable::take_down(const Datagram& datagram, const sockaddr_in& from) {
  here_.insert(datagram.rank);
  if (rank_ != 0) return;
  if (datagram.is_report) {
    const std::string activity(datagram.activity.data(), strnlen(datagram.activity.data(), kActivityBytes));
    reports_[datagram.rank] = {datagram.steps, datagram.stuck_s, activity, datagram.busy, datagram.resting};
  } else {
    Datagram answer{};
    answer.job = job_;
    (void)sendto(socket_, &answer, sizeof answer, 0, generic(from), sizeof from);
  }
}

}  // namespace fabricbench
