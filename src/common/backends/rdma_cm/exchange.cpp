#include "common/backends/rdma_cm/exchange.h"

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "common/core/error.h"

namespace fabricbench::rdma_cm {
namespace {

/// Datagrams are lost if none has arrived for this long.
constexpr Seconds kDatagramPatience = 0.25;

}  // namespace

Exchange::Exchange(Link& link, const SideSettings& settings, std::uint64_t connection, bool connects)
    : link_(link), settings_(settings), connection_(connection), connects_(connects), seen_(settings.messages) {}

void Exchange::prepare() {
  for (std::uint32_t number = 0; number < settings_.messages; ++number) {
    fill_message({connects_ ? 0 : 1, connection_, number}, link_.message(number));
  }
}

void Exchange::begin() {
  if (!connects_) return;
  began_ = settings_.clock();
  send_next();
}

/// Counts a datagram that arrives twice once.
void Exchange::take(const Arrival& arrival, Seconds time) {
  if (connects_ && !result_.first) result_.first = time - began_;
  if (arrival.number < settings_.messages && seen_[arrival.number]) return;
  if (const std::string fault = fault_in(arrival); !fault.empty() && result_.wrong++ == 0) result_.first_wrong = fault;
  if (arrival.number >= settings_.messages) return;
  seen_[arrival.number] = true;
  ++arrived_;
  send_the_rest();
}

/// Which byte of a message is wrong; empty if none is.
std::string Exchange::fault_in(const Arrival& arrival) {
  if (arrival.number >= settings_.messages) {
    return fmt::format("a message says that it is number {}, and there are {}", arrival.number, settings_.messages);
  }
  const MessageLabel label{connects_ ? 1 : 0, connection_, arrival.number};
  const auto place = first_wrong_byte(label, arrival.data);
  if (!place) return "";
  return fmt::format("message {} of connection {}, byte {}: expected {:#04x}, got {:#04x}", arrival.number, connection_,
                     *place, static_cast<unsigned>(byte_at(label, *place)),
                     static_cast<unsigned>(arrival.data[*place]));
}

void Exchange::skip_arrivals() {
  if (connects_ && posted_ < settings_.messages) {
    send_the_rest();
  } else {
    skipped_ = true;
  }
}

void Exchange::send_the_rest() {
  while (posted_ < settings_.messages) send_next();
}

void Exchange::send_next() {
  link_.send(posted_);
  ++posted_;
}

std::string Exchange::state() const {
  if (arrived_ < settings_.messages && !skipped_) {
    return fmt::format("{} of {} messages have arrived", arrived_, settings_.messages);
  }
  return fmt::format("{} of {} messages were acknowledged", sent_, posted_);
}

Exchanged Exchange::result() const {
  Exchanged result = result_;
  result.lost = settings_.messages - arrived_;
  return result;
}

Exchanges::Exchanges(Links& links, const SideSettings& settings, BatchStep& step, bool connects)
    : links_(links), settings_(settings), step_(step) {
  for (std::size_t link = 0; link < step.batch().count; ++link) {
    exchanges_.emplace_back(links.at(link), settings, step.batch().first + link, connects);
  }
}

std::vector<Exchanged> Exchanges::exchange_messages() {
  begin();
  Seconds last = settings_.clock();
  while (step_.waiting() > 0) {
    if (progress()) {
      last = settings_.clock();
      continue;
    }
    const Seconds silent = settings_.clock() - last;
    if (const Seconds most = patience(); silent > most) {
      give_up(most);
      last = settings_.clock();
    } else {
      std::this_thread::yield();
    }
  }
  std::vector<Exchanged> results;
  for (const Exchange& exchange : exchanges_) results.push_back(exchange.result());
  return results;
}

void Exchanges::begin() {
  for (Exchange& exchange : exchanges_) exchange.prepare();
  for (std::size_t link = 0; link < exchanges_.size(); ++link) {
    if (step_.waits(link)) step_.attempt(link, [&] { exchanges_[link].begin(); });
    (void)progress();  // answers must not wait until all have begun
  }
}

bool Exchanges::progress() {
  std::vector<Completion> completions;
  try {
    completions = links_.poll();
  } catch (const Error& error) {
    step_.fail_waiting(error.status(), error.what());
  }
  if (completions.empty()) return false;
  const Seconds time = settings_.clock();  // before the messages are checked
  for (const Completion& completion : completions) take(completion, time);
  return true;
}

void Exchanges::take(const Completion& completion, Seconds time) {
  const std::size_t link = completion.link;
  if (completion.problem.status != ExitStatus::kOk) {
    step_.fail(link, completion.problem.status, completion.problem.text);
    return;
  }
  if (completion.arrival) {
    step_.attempt(link, [&] { exchanges_[link].take(*completion.arrival, time); });
  } else {
    exchanges_[link].count_sent();
  }
  finish_if_done(link);
}

void Exchanges::finish_if_done(std::size_t link) {
  if (exchanges_[link].finished()) step_.finish(link);
}

/// The longest time without a completion. The connecting side may need long to learn that it may send, and a lost first
/// datagram is followed by others.
Seconds Exchanges::patience() const {
  if (!settings_.datagrams()) return settings_.limit;
  for (std::size_t link = 0; link < exchanges_.size(); ++link) {
    const Exchange& exchange = exchanges_[link];
    if (step_.waits(link) && (exchange.awaits_permission() || exchange.has_skipped())) return settings_.limit;
  }
  return std::min(kDatagramPatience, settings_.limit);
}

void Exchanges::give_up(Seconds patience) {
  const std::string silence = explain_silence(ConnectStep::kFirstMessage, patience);
  for (std::size_t link = 0; link < exchanges_.size(); ++link) {
    if (!step_.waits(link)) continue;
    Exchange& exchange = exchanges_[link];
    if (settings_.datagrams() && !exchange.has_skipped()) {
      step_.attempt(link, [&] { exchange.skip_arrivals(); });
      finish_if_done(link);
    } else {
      step_.fail(link, ExitStatus::kTimeout, fmt::format("{}; {}", exchange.state(), silence));
    }
  }
}

}  // namespace fabricbench::rdma_cm
