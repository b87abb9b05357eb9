#include "common/backends/rdma_cm/exchange.h"

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "common/backends/rdma_cm/message.h"
#include "common/core/error.h"

namespace fabricbench::rdma_cm {
namespace {

/// A datagram is lost if it has not arrived within this time after the previous one, or after the last one was sent.
constexpr Seconds kDatagramPatience = 0.25;

}  // namespace

Exchange::Exchange(Link& link, const SideSettings& settings, std::uint64_t connection, bool connects)
    : link_(link), settings_(settings), connection_(connection), connects_(connects), seen_(settings.messages) {}

Exchanged Exchange::exchange_messages() {
  const bool datagrams = settings_.transport == Transport::kUd;
  const Seconds patience = datagrams ? std::min(kDatagramPatience, settings_.limit) : settings_.limit;
  for (std::uint32_t number = 0; number < settings_.messages; ++number) {
    fill_message({connects_ ? 0 : 1, connection_, number}, link_.message(number));
  }
  if (connects_) {
    began_ = settings_.clock();
    send(0, 1);
    (void)await_arrivals(1, patience);
    send(1, settings_.messages);
    (void)await_arrivals(settings_.messages, patience);
  } else if (await_arrivals(1, settings_.limit)) {  // the other side may need long to learn that it may send
    send(0, settings_.messages);
    (void)await_arrivals(settings_.messages, patience);
  }
  await_sent();
  result_.lost = settings_.messages - arrived_;
  return result_;
}

void Exchange::send(std::uint32_t begin, std::uint32_t end) {
  for (std::uint32_t number = begin; number < end; ++number) {
    link_.send(number);
    ++posted_;
  }
}

/// Whether this many have arrived. Throws after the time limit, except for datagrams.
bool Exchange::await_arrivals(std::uint32_t count, Seconds patience) {
  Seconds last = settings_.clock();
  while (arrived_ < count) {
    if (progress()) {
      last = settings_.clock();
    } else if (settings_.clock() - last > patience) {
      if (settings_.transport == Transport::kUd) return false;
      throw Error(ExitStatus::kTimeout, fmt::format("{} of {} messages have arrived; {}", arrived_, settings_.messages,
                                                    explain_silence(ConnectStep::kFirstMessage, patience)));
    } else {
      std::this_thread::yield();
    }
  }
  return true;
}

void Exchange::await_sent() {
  const Seconds began = settings_.clock();
  while (sent_ < posted_) {
    if (progress()) continue;
    if (settings_.clock() - began > settings_.limit) {
      throw Error(ExitStatus::kTimeout, fmt::format("{} of {} messages were acknowledged; {}", sent_, posted_,
                                                    explain_silence(ConnectStep::kFirstMessage, settings_.limit)));
    }
    std::this_thread::yield();
  }
}

bool Exchange::progress() {
  const Completions completions = link_.poll();
  const bool first = connects_ && arrived_ == 0 && !completions.arrivals.empty();
  if (first) result_.first = settings_.clock() - began_;  // before it is checked
  sent_ += completions.sent;
  for (const Arrival& arrival : completions.arrivals) take(arrival);
  return completions.any();
}

/// Counts a datagram that arrives twice once.
void Exchange::take(const Arrival& arrival) {
  std::string wrong;
  if (arrival.number >= settings_.messages) {
    wrong = fmt::format("a message says that it is number {}, and there are {}", arrival.number, settings_.messages);
  } else {
    if (seen_[arrival.number]) return;
    seen_[arrival.number] = true;
    ++arrived_;
    const MessageLabel label{connects_ ? 1 : 0, connection_, arrival.number};
    if (const auto place = first_wrong_byte(label, arrival.data)) {
      wrong = fmt::format("message {} of connection {}, byte {}: expected {:#04x}, got {:#04x}", arrival.number,
                          connection_, *place, static_cast<unsigned>(byte_at(label, *place)),
                          static_cast<unsigned>(arrival.data[*place]));
    }
  }
  if (wrong.empty()) return;
  if (result_.wrong++ == 0) result_.first_wrong = wrong;
}

}  // namespace fabricbench::rdma_cm
