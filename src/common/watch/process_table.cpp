#include "common/watch/process_table.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "common/core/ownership.h"
#include "common/core/random.h"
#include "common/core/wording.h"
#include "common/host/identity.h"

namespace fabricbench {
namespace {

constexpr std::size_t kMostAddresses = 16;
constexpr std::size_t kActivityBytes = 256;
constexpr int kWantedBufferBytes = 8 << 20;  // the kernel grants less: 208 KiB, which is 50 to 550 datagrams

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

bool share_loopback(const mpi::Communicator& world) {
  const auto own = static_cast<std::int64_t>(host::network_domain());
  return world.min(own) == world.max(own);
}

const sockaddr* generic(const sockaddr_in& address) { return reinterpret_cast<const sockaddr*>(&address); }
sockaddr* generic(sockaddr_in& address) { return reinterpret_cast<sockaddr*>(&address); }

constexpr std::size_t kMostAsked = 8;
constexpr const char* kAllWait = "nobody is missing: data are lost, or take longer than the limit allows";
constexpr double kAwake = 0.02;  // MPI polls while it waits, so a rank that uses less processor time is not in MPI

/// What the reports of a group have in common.
struct Comparison {
  std::uint64_t furthest = 0;  // the most steps
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  int with_least = 0;  // so many have these steps
  Seconds longest_stuck = 0;
  bool somebody_polls = false;
  bool somebody_is_silent = false;
};

Comparison compare(const std::map<int, ProcessReport>& reports, std::size_t processes) {
  Comparison comparison;
  for (const auto& [process, report] : reports) {
    comparison.longest_stuck = std::max(comparison.longest_stuck, report.stuck_s);
    if (report.idle) continue;
    comparison.furthest = std::max(comparison.furthest, report.steps);
    if (report.steps < comparison.least) comparison.with_least = 0;
    comparison.least = std::min(comparison.least, report.steps);
    if (report.steps == comparison.least) ++comparison.with_least;
    comparison.somebody_polls = comparison.somebody_polls || report.busy >= kAwake;
  }
  comparison.somebody_is_silent = reports.size() < processes;
  return comparison;
}

/// Of a rank without a report. One that was heard while others were already stuck is not dead.
std::string unreported_text(int rank, const std::map<int, Seconds>& silences, Seconds longest_stuck) {
  const auto since = silences.find(rank);
  if (since == silences.end() || since->second >= longest_stuck / 2) return silent_text(rank, silences);
  return fmt::format("heard {} ago, and is not stuck in the same step", readable_seconds(since->second));
}

/// Whether it has nothing to do, so that nobody waits for it.
bool is_idle(const ProcessReport& report) { return report.idle && report.stuck_s == 0; }

/// Why the others may wait for this process; empty: it waits for others.
std::string why_missing(const ProcessReport& report, const Comparison& all) {
  if (report.idle) return "stuck";
  const bool sleeps = all.somebody_polls && report.busy < kAwake;
  if (report.steps < all.furthest) {
    // Operations of some collectives end earlier on some ranks, so that who is silent stops others at different ones,
    // and of several that are behind each may wait for another.
    const bool is_last = report.steps == all.least && all.with_least == 1 && !all.somebody_is_silent;
    return sleeps || is_last ? "has not arrived" : "behind, and may wait too";
  }
  return sleeps ? "sleeps, as in a call that does not return" : "";
}

/// Whether it reports, but hears nothing of the first process, which answers all that it hears.
bool is_deaf(const ProcessReport& report, const Comparison& all) {
  return report.deaf_s > 0 && report.deaf_s >= all.longest_stuck / 2;
}

/// `missing`: how many they wait for.
std::string waiting_line(const std::vector<int>& waiting, std::size_t missing, const std::string& first) {
  const char* whom = missing == 0 ? "" : missing == 1 ? " for it" : " for them";
  return fmt::format("{} wait{}{}, the first is {}", counted(waiting.size(), "rank"), waiting.size() == 1 ? "s" : "",
                     whom, first);
}

std::string line_of(int process, const std::vector<std::string>& names, const std::string& what) {
  return fmt::format("{}: {}", names[static_cast<std::size_t>(process)], what);
}

}  // namespace

bool FailureDetector::is_due(Seconds now) {
  if (now < next_) return false;
  next_ = now + jitter_.shorten(patience_ / 8);
  return true;
}

std::vector<int> FailureDetector::to_ask(Seconds now) {
  std::vector<int> ranks;
  for (auto& [rank, last] : last_heard_) {
    if (now - last.heard < patience_ / 4 || now - last.asked < patience_ / 32) continue;
    last.asked = now;
    ++last.times_asked;
    ranks.push_back(rank);
  }
  return ranks;
}

bool FailureDetector::is_anxious(Seconds now) const {
  return std::any_of(last_heard_.begin(), last_heard_.end(), [&](const auto& entry) {
    const Seconds silence = now - entry.second.heard;
    return silence > patience_ / 2 && silence <= patience_;
  });
}

/// If this process itself was stopped for long, the others have been silent for as long, but were not asked.
std::vector<int> FailureDetector::gone(Seconds now) const {
  constexpr int kTimesAsked = 8;
  std::vector<int> ranks;
  for (const auto& [rank, last] : last_heard_) {
    if (now - last.heard > patience_ && last.times_asked >= kTimesAsked) ranks.push_back(rank);
  }
  return ranks;
}

std::map<int, Seconds> FailureDetector::silences(Seconds now) const {
  std::map<int, Seconds> silences;
  for (const auto& [rank, last] : last_heard_) silences[rank] = now - last.heard;
  return silences;
}

enum class ProcessTable::Purpose : std::uint8_t { kHere, kReport, kAsk, kAskForStack, kGoodbye, kEnd };

struct ProcessTable::Datagram {
  std::uint64_t job;
  std::uint64_t steps;
  double stuck_s;
  double busy;
  double deaf_s;
  std::int32_t rank;
  bool idle;
  Purpose purpose;
  std::uint8_t address_index;  // the place of the address in the list of rank 0's
  std::array<char, kActivityBytes> activity;
};

ProcessTable::ProcessTable(const mpi::Communicator& world)
    : ProcessTable(world.rank(), world.size(), share_loopback(world),
                   [&world](Bytes own) { return world.broadcast(std::move(own)); }) {}

ProcessTable::ProcessTable(int rank, int size, bool on_one_host, const Share& share) : rank_(rank), size_(size) {
  socket_ = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (on_one_host && rank != 0) (void)bind_to(INADDR_LOOPBACK);  // else to any address when it sends
  const Bytes message = share(rank == 0 ? open_and_list_addresses(on_one_host) : Bytes());
  std::memcpy(&job_, message.data(), sizeof job_);
  addresses_.resize((message.size() - sizeof job_) / sizeof(sockaddr_in));
  std::memcpy(addresses_.data(), message.data() + sizeof job_, addresses_.size() * sizeof(sockaddr_in));
}

ProcessTable::~ProcessTable() {
  if (socket_ >= 0) close(socket_);
}

/// At a port of the kernel's choice. Returns the address and the port; empty if it cannot.
std::optional<sockaddr_in> ProcessTable::bind_to(in_addr_t address) const {
  sockaddr_in own{};
  own.sin_family = AF_INET;
  own.sin_addr.s_addr = htonl(address);
  socklen_t length = sizeof own;
  if (bind(socket_, generic(own), sizeof own) != 0) return std::nullopt;
  if (getsockname(socket_, generic(own), &length) != 0) return std::nullopt;
  return own;
}

/// Opens the socket, and returns the job's number followed by the addresses. Runs on rank 0. Nobody but this host gets
/// to the loopback.
ProcessTable::Bytes ProcessTable::open_and_list_addresses(bool on_one_host) {
  job_ = draw_secret();
  (void)setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &kWantedBufferBytes, sizeof kWantedBufferBytes);
  std::vector<sockaddr_in> addresses;
  if (const auto own = bind_to(on_one_host ? INADDR_LOOPBACK : INADDR_ANY)) {
    addresses = on_one_host ? std::vector{*own} : local_addresses(own->sin_port);
  }
  Bytes message(sizeof job_ + addresses.size() * sizeof(sockaddr_in));
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
  Datagram datagram{job_,  report.steps, report.stuck_s,   report.busy, report.deaf_s,
                    rank_, report.idle,  Purpose::kReport, 0,           {}};
  report.activity.copy(datagram.activity.data(), kActivityBytes - 1);
  send(datagram);
}

void ProcessTable::say_here() {
  if (rank_ != 0) send(Purpose::kHere);
}

void ProcessTable::say_goodbye(std::uint64_t steps) {
  if (rank_ != 0) send(Purpose::kGoodbye, steps);
}

std::vector<int> ProcessTable::present() const {
  std::vector<int> ranks;
  for (const auto& [rank, sender] : senders_) {
    if (gone_.count(rank) == 0) ranks.push_back(rank);
  }
  return ranks;
}

std::set<int> ProcessTable::listen() {
  take_down_all();
  return std::exchange(here_, {});
}

void ProcessTable::ask(const std::vector<int>& ranks) {
  if (rank_ != 0 && !ranks.empty()) say_here();
  for (const int rank : ranks) {
    if (const auto sender = senders_.find(rank); sender != senders_.end()) say(Purpose::kAsk, sender->second);
  }
}

/// To rank 0. What is lost is sent again soon, and there is nobody to report an error to.
void ProcessTable::send(Datagram datagram) {
  constexpr int kMostUnanswered = 4;
  if (unanswered_++ >= kMostUnanswered) address_index_.reset();
  for (std::size_t i = 0; i < addresses_.size(); ++i) {
    if (address_index_ && *address_index_ != i) continue;
    datagram.address_index = static_cast<std::uint8_t>(i);
    (void)sendto(socket_, &datagram, sizeof datagram, 0, generic(addresses_[i]), sizeof addresses_[i]);
  }
}

void ProcessTable::send(Purpose purpose, std::uint64_t steps) {
  Datagram datagram{};
  datagram.job = job_;
  datagram.rank = rank_;
  datagram.purpose = purpose;
  datagram.steps = steps;
  send(datagram);
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
  if (rank_ != 0) {
    has_heard_first_ = true;
    address_index_ = datagram.address_index;
    unanswered_ = 0;
    asked_for_stack_ = asked_for_stack_ || datagram.purpose == Purpose::kAskForStack;
    may_go_ = may_go_ || datagram.purpose == Purpose::kGoodbye;
    is_ended_ = is_ended_ || datagram.purpose == Purpose::kEnd;
    if (datagram.purpose == Purpose::kAsk) say_here();
    return;
  }
  if (datagram.purpose == Purpose::kReport) {
    const std::string activity(datagram.activity.data(), strnlen(datagram.activity.data(), kActivityBytes));
    reports_[datagram.rank] = {datagram.steps, datagram.stuck_s, activity,
                               datagram.busy,  datagram.idle,    datagram.deaf_s};
  }
  senders_[datagram.rank] = {from, datagram.address_index};
  const bool goes = datagram.purpose == Purpose::kGoodbye;
  if (goes) {
    gone_.insert(datagram.rank);
    reports_[datagram.rank] = {datagram.steps, 0, "has ended MPI"};
  }
  say(goes ? Purpose::kGoodbye : Purpose::kHere, senders_[datagram.rank]);
}

void ProcessTable::ask_for_stacks(const std::vector<int>& ranks) {
  for (const int rank : ranks) {
    if (const auto sender = senders_.find(rank); sender != senders_.end()) say(Purpose::kAskForStack, sender->second);
  }
}

void ProcessTable::tell_end() {
  for (const auto& [rank, sender] : senders_) say(Purpose::kEnd, sender);
}

bool ProcessTable::is_asked_for_stack() {
  if (rank_ != 0) take_down_all();
  return std::exchange(asked_for_stack_, false);
}

/// What is lost is lost.
void ProcessTable::say(Purpose purpose, const Sender& to) {
  Datagram datagram{};
  datagram.job = job_;
  datagram.purpose = purpose;
  datagram.address_index = to.address_index;
  (void)sendto(socket_, &datagram, sizeof datagram, 0, generic(to.address), sizeof to.address);
}

bool keep_in_touch(ProcessTable& table, FailureDetector& roll, Seconds now) {
  const bool is_due = roll.is_due(now);
  if (is_due) table.say_here();
  for (const int rank : table.listen()) roll.hear(rank, now);
  table.ask(roll.to_ask(now));
  return is_due;
}

/// The answer may be lost, and rank 0 gone.
bool take_leave(ProcessTable& table, FailureDetector& roll, std::uint64_t steps, Seconds waited, Seconds now) {
  constexpr Seconds kAnswersWithin = 4;  // more than any pause between its looks
  table.say_goodbye(steps);
  keep_in_touch(table, roll, now);
  if (table.is_first()) return table.present().empty();
  return table.may_go() || (waited >= kAnswersWithin && roll.silences(now).at(0) >= kAnswersWithin);
}

std::string silent_text(int rank, const std::map<int, Seconds>& silences) {
  const auto since = silences.find(rank);
  const std::string time = since == silences.end() ? "" : fmt::format(" for {}", readable_seconds(since->second));
  return fmt::format("silent{}: stopped, dead or out of reach", time);
}

std::vector<std::string> who_is_missing(const std::map<int, ProcessReport>& reports,
                                        const std::vector<std::string>& names, const std::map<int, Seconds>& silences) {
  const Comparison all = compare(reports, names.size());
  std::vector<std::string> missing;
  std::vector<int> waiting;
  for (int process = 0; process < static_cast<int>(names.size()); ++process) {
    const auto found = reports.find(process);
    if (found == reports.end()) {
      missing.push_back(line_of(process, names, unreported_text(process, silences, all.longest_stuck)));
      continue;
    }
    const ProcessReport& report = found->second;
    if (is_idle(report)) continue;
    if (is_deaf(report, all)) {
      missing.push_back(
          line_of(process, names,
                  fmt::format("its reports arrive here, but it has heard nothing of {} for {}: what is sent "
                              "to it may be lost",
                              names.front(), readable_seconds(report.deaf_s))));
    } else if (const std::string why = why_missing(report, all); why.empty()) {
      waiting.push_back(process);
    } else {
      missing.push_back(line_of(process, names,
                                fmt::format("{}: {} for {}", why, report.activity, readable_seconds(report.stuck_s))));
    }
  }
  const std::size_t count = missing.size();
  std::vector<std::string> lines = shortened(std::move(missing), kMostNamed, "more");
  if (!waiting.empty()) {
    const int first = waiting.front();
    lines.push_back(waiting_line(waiting, count, line_of(first, names, reports.at(first).activity)));
  }
  if (count == 0 && waiting.size() > 1) lines.emplace_back(kAllWait);
  return lines;
}

std::vector<int> ranks_to_ask(const std::map<int, ProcessReport>& reports) {
  const Comparison all = compare(reports, reports.size());
  std::vector<int> stuck;
  std::vector<int> waiting;
  for (const auto& [process, report] : reports) {
    if (is_idle(report)) continue;
    (why_missing(report, all).empty() ? waiting : stuck).push_back(process);
  }
  std::vector<int>& asked = stuck.empty() ? waiting : stuck;
  asked.resize(std::min(asked.size(), kMostAsked));
  return asked;
}

}  // namespace fabricbench
