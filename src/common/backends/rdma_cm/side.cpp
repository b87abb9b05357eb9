#include "common/backends/rdma_cm/side.h"

#include <algorithm>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "common/core/error.h"

namespace fabricbench::rdma_cm {
namespace {

/// Datagrams are lost if none has arrived for this long.
constexpr Seconds kDatagramPatience = 0.25;

/// Runs a phase on both sides, and returns the problem of either.
Problem take_phase(const Agree& agree, const std::function<void()>& phase) {
  Problem own;
  try {
    phase();
  } catch (const Error& error) {
    own = {error.status(), error.what()};
  }
  return agree(own);
}

Problem make_batch(Side& side, const Batch& batch, const Agree& agree) {
  side.begin(batch);
  for (const auto& phase : {std::function<void()>([&] { side.prepare(); }), std::function<void()>([&] { side.meet(); }),
                            std::function<void()>([&] { side.part(); })}) {
    if (Problem problem = take_phase(agree, phase); problem.status != ExitStatus::kOk) return problem;
  }
  return {};
}

}  // namespace

BatchStep::BatchStep(ConnectStep step, const Batch& batch, const SideSettings& settings)
    : step_(step),
      batch_(batch),
      settings_(settings),
      states_(batch.count, State::kWaits),
      starts_(batch.count, settings.clock()),
      waiting_(batch.count),
      began_(settings.clock()),
      ended_(began_) {}

void BatchStep::start(std::size_t link, const std::function<void()>& act) {
  starts_[link] = settings_.clock();
  attempt(link, act);
}

void BatchStep::attempt(std::size_t link, const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    fail(link, error.status(), error.what());
  }
}

void BatchStep::finish(std::size_t link) {
  if (!waits(link)) return;
  end_wait(link, State::kDone);
  times_.push_back(ended_ - starts_[link]);
}

void BatchStep::fail(std::size_t link, ExitStatus status, const std::string& why) {
  if (states_[link] == State::kFailed) return;
  end_wait(link, State::kFailed);
  if (failed_++ > 0) return;
  problem_ = {status, fmt::format("connection {}: {}", batch_.first + link, in_step(step_, settings_.peer, why))};
}

void BatchStep::fail_waiting(ExitStatus status, const std::string& why) {
  for (std::size_t link = 0; link < batch_.count; ++link) {
    if (waits(link)) fail(link, status, why);
  }
}

void BatchStep::end_wait(std::size_t link, State state) {
  if (waits(link)) --waiting_;
  states_[link] = state;
  ended_ = settings_.clock();
}

void BatchStep::raise() const {
  if (failed_ == 0) return;
  std::string text = problem_.text;
  if (failed_ > 1) {
    text += fmt::format("; {} of the {} connections made at the same time failed in this step", failed_, batch_.count);
  }
  throw Error(problem_.status, text);
}

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

Side::Side(Links& links, SideSettings settings) : links_(links), settings_(std::move(settings)) {}

void Side::begin(const Batch& batch) {
  batch_ = batch;
  links_.begin(batch.first, batch.count);
}

void Side::take_step(ConnectStep step, EventKind answer, const std::function<void(Link&)>& start) {
  const React react = [answer](Link&, EventKind kind) {
    return kind == answer ? Meaning::kDone : Meaning::kUnexpected;
  };
  BatchStep running(step, batch_, settings_);
  for (std::size_t link = 0; link < batch_.count; ++link) {
    running.start(link, [&] { start(links_.at(link)); });
    if (link + 1 < batch_.count) (void)take_event(running, react, 0);  // answers must not wait until all have started
  }
  await_events(running, react);
  times(step).insert(times(step).end(), running.times().begin(), running.times().end());
  findings_.took[static_cast<std::size_t>(step)] += running.took();
  conclude(running);
}

void Side::await(ConnectStep step, const React& react) {
  BatchStep running(step, batch_, settings_);
  await_events(running, react);
  conclude(running);
}

/// Every event gives the others the whole limit again.
void Side::await_events(BatchStep& step, const React& react) {
  Seconds last = settings_.clock();
  while (step.waiting() > 0) {
    const Seconds left = last + settings_.limit - settings_.clock();
    if (left <= 0) {
      step.fail_waiting(ExitStatus::kTimeout, explain_silence(step.step(), settings_.limit));
    } else if (take_event(step, react, left)) {
      last = settings_.clock();
    }
  }
}

/// Whether an event of a link came within the time.
bool Side::take_event(BatchStep& step, const React& react, Seconds longest) {
  std::optional<LinkEvent> got;
  try {
    got = links_.next_event(longest);
  } catch (const Error& error) {
    step.fail_waiting(error.status(), error.what());
  }
  if (!got || got->event.kind == EventKind::kOther) return false;
  step.attempt(got->link, [&] {
    const Meaning meaning = react(links_.at(got->link), got->event.kind);
    if (meaning == Meaning::kUnexpected) throw Error(ExitStatus::kTimeout, explain(got->event));
    if (meaning == Meaning::kDone) step.finish(got->link);
  });
  return true;
}

void Side::exchange(bool connects) {
  BatchStep step(ConnectStep::kFirstMessage, batch_, settings_);
  for (const Exchanged& exchanged : Exchanges(links_, settings_, step, connects).exchange_messages()) {
    if (exchanged.first) times(step.step()).push_back(*exchanged.first);
    findings_.lost += exchanged.lost;
    if (findings_.wrong == 0) findings_.first_wrong = exchanged.first_wrong;
    findings_.wrong += exchanged.wrong;
  }
  findings_.took[static_cast<std::size_t>(step.step())] += step.took();
  conclude(step);
}

void Side::conclude(const BatchStep& step) {
  findings_.failed += step.failed();
  step.raise();
}

void ConnectingSide::prepare() {
  take_step(ConnectStep::kResolveAddress, EventKind::kAddressResolved, [](Link& link) { link.resolve_address(); });
  take_step(ConnectStep::kResolveRoute, EventKind::kRouteResolved, [](Link& link) { link.resolve_route(); });
}

void ConnectingSide::meet() {
  take_step(ConnectStep::kConnect, EventKind::kEstablished, [](Link& link) { link.connect(); });
  exchange(true);
}

/// Datagrams need no disconnect.
void ConnectingSide::part() {
  if (settings().datagrams()) return;
  take_step(ConnectStep::kDisconnect, EventKind::kDisconnected, [](Link& link) { link.disconnect(); });
}

/// For datagrams, this side is never told that the connection is established.
void AcceptingSide::meet() {
  await(ConnectStep::kConnect, [datagrams = settings().datagrams()](Link& link, EventKind kind) {
    if (kind == EventKind::kConnectRequest) {
      link.accept();
      return datagrams ? Meaning::kDone : Meaning::kGoesOn;
    }
    return kind == EventKind::kEstablished ? Meaning::kDone : Meaning::kUnexpected;
  });
  exchange(false);
}

void AcceptingSide::part() {
  if (settings().datagrams()) return;
  await(ConnectStep::kDisconnect, [](Link& link, EventKind kind) {
    if (kind != EventKind::kDisconnected) return Meaning::kUnexpected;
    link.disconnect();
    return Meaning::kDone;
  });
}

Series make_connections(Side& side, std::int64_t count, const Agree& agree) {
  const auto parallel = static_cast<std::int64_t>(side.settings().parallel);
  Series series;
  const Seconds began = side.settings().clock();
  while (series.made < count && series.problem.status == ExitStatus::kOk) {
    const std::int64_t size = std::min(parallel, count - series.made);
    series.problem = make_batch(side, {static_cast<std::uint64_t>(series.made), static_cast<std::size_t>(size)}, agree);
    side.close();
    if (series.problem.status == ExitStatus::kOk) series.made += size;
  }
  series.took = side.settings().clock() - began;
  return series;
}

}  // namespace fabricbench::rdma_cm
