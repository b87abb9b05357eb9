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

void BatchStep::start(std::size_t endpoint, const std::function<void()>& act) {
  starts_[endpoint] = settings_.clock();
  attempt(endpoint, act);
}

void BatchStep::attempt(std::size_t endpoint, const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    fail(endpoint, error.status(), error.what());
  }
}

void BatchStep::finish(std::size_t endpoint) {
  if (!waits(endpoint)) return;
  end_wait(endpoint, State::kDone);
  times_.push_back(ended_ - starts_[endpoint]);
}

void BatchStep::fail(std::size_t endpoint, ExitStatus status, const std::string& why) {
  if (states_[endpoint] == State::kFailed) return;
  end_wait(endpoint, State::kFailed);
  if (failed_++ > 0) return;
  problem_ = {status, fmt::format("connection {}: {}", batch_.first + endpoint, in_step(step_, settings_.peer, why))};
}

void BatchStep::fail_waiting(ExitStatus status, const std::string& why) {
  for (std::size_t endpoint = 0; endpoint < batch_.count; ++endpoint) {
    if (waits(endpoint)) fail(endpoint, status, why);
  }
}

void BatchStep::end_wait(std::size_t endpoint, State state) {
  if (waits(endpoint)) --waiting_;
  states_[endpoint] = state;
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

ConnectionMessages::ConnectionMessages(Endpoint& endpoint, const SideSettings& settings, std::uint64_t connection,
                                       bool connects)
    : endpoint_(endpoint),
      settings_(settings),
      connection_(connection),
      connects_(connects),
      seen_(settings.messages) {}

void ConnectionMessages::prepare() {
  for (std::uint32_t number = 0; number < settings_.messages; ++number) {
    fill_message({connects_ ? 0 : 1, connection_, number}, endpoint_.message(number));
  }
}

void ConnectionMessages::begin() {
  if (!connects_) return;
  began_ = settings_.clock();
  send_next();
}

/// Counts a datagram that arrives twice once.
void ConnectionMessages::take(const Arrival& arrival, Seconds time) {
  if (connects_ && !result_.first) result_.first = time - began_;
  if (arrival.number < settings_.messages && seen_[arrival.number]) return;
  if (const std::string fault = fault_in(arrival); !fault.empty() && result_.wrong++ == 0) result_.first_wrong = fault;
  if (arrival.number >= settings_.messages) return;
  seen_[arrival.number] = true;
  ++arrived_;
  send_the_rest();
}

/// Which byte of a message is wrong; empty if none is.
std::string ConnectionMessages::fault_in(const Arrival& arrival) {
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

void ConnectionMessages::skip_arrivals() {
  if (connects_ && posted_ < settings_.messages) {
    send_the_rest();
  } else {
    skipped_ = true;
  }
}

void ConnectionMessages::send_the_rest() {
  while (posted_ < settings_.messages) send_next();
}

void ConnectionMessages::send_next() {
  endpoint_.send(posted_);
  ++posted_;
}

std::string ConnectionMessages::state() const {
  if (arrived_ < settings_.messages && !skipped_) {
    return fmt::format("{} of {} messages have arrived", arrived_, settings_.messages);
  }
  return fmt::format("{} of {} messages were acknowledged", sent_, posted_);
}

MessageResults ConnectionMessages::result() const {
  MessageResults result = result_;
  result.lost = settings_.messages - arrived_;
  return result;
}

BatchMessages::BatchMessages(Endpoints& endpoints, const SideSettings& settings, BatchStep& step, bool connects)
    : endpoints_(endpoints), settings_(settings), step_(step) {
  for (std::size_t endpoint = 0; endpoint < step.batch().count; ++endpoint) {
    of_connections_.emplace_back(endpoints.at(endpoint), settings, step.batch().first + endpoint, connects);
  }
}

std::vector<MessageResults> BatchMessages::exchange_messages() {
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
  std::vector<MessageResults> results;
  for (const ConnectionMessages& exchange : of_connections_) results.push_back(exchange.result());
  return results;
}

void BatchMessages::begin() {
  for (ConnectionMessages& exchange : of_connections_) exchange.prepare();
  for (std::size_t endpoint = 0; endpoint < of_connections_.size(); ++endpoint) {
    if (step_.waits(endpoint)) step_.attempt(endpoint, [&] { of_connections_[endpoint].begin(); });
    (void)progress();  // answers must not wait until all have begun
  }
}

bool BatchMessages::progress() {
  std::vector<Completion> completions;
  try {
    completions = endpoints_.poll();
  } catch (const Error& error) {
    step_.fail_waiting(error.status(), error.what());
  }
  if (completions.empty()) return false;
  const Seconds time = settings_.clock();  // before the messages are checked
  for (const Completion& completion : completions) take(completion, time);
  return true;
}

void BatchMessages::take(const Completion& completion, Seconds time) {
  const std::size_t endpoint = completion.endpoint;
  if (completion.problem.status != ExitStatus::kOk) {
    step_.fail(endpoint, completion.problem.status, completion.problem.text);
    return;
  }
  if (completion.arrival) {
    step_.attempt(endpoint, [&] { of_connections_[endpoint].take(*completion.arrival, time); });
  } else {
    of_connections_[endpoint].count_sent();
  }
  finish_if_done(endpoint);
}

void BatchMessages::finish_if_done(std::size_t endpoint) {
  if (of_connections_[endpoint].finished()) step_.finish(endpoint);
}

/// The longest time without a completion. The connecting side may need long to learn that it may send, and a lost first
/// datagram is followed by others.
Seconds BatchMessages::patience() const {
  if (!settings_.datagrams()) return settings_.limit;
  for (std::size_t endpoint = 0; endpoint < of_connections_.size(); ++endpoint) {
    const ConnectionMessages& exchange = of_connections_[endpoint];
    if (step_.waits(endpoint) && (exchange.awaits_permission() || exchange.has_skipped())) return settings_.limit;
  }
  return std::min(kDatagramPatience, settings_.limit);
}

void BatchMessages::give_up(Seconds patience) {
  const std::string silence = explain_silence(ConnectStep::kFirstMessage, patience);
  for (std::size_t endpoint = 0; endpoint < of_connections_.size(); ++endpoint) {
    if (!step_.waits(endpoint)) continue;
    ConnectionMessages& exchange = of_connections_[endpoint];
    if (settings_.datagrams() && !exchange.has_skipped()) {
      step_.attempt(endpoint, [&] { exchange.skip_arrivals(); });
      finish_if_done(endpoint);
    } else {
      step_.fail(endpoint, ExitStatus::kTimeout, fmt::format("{}; {}", exchange.state(), silence));
    }
  }
}

Side::Side(Endpoints& endpoints, SideSettings settings) : endpoints_(endpoints), settings_(std::move(settings)) {}

void Side::begin(const Batch& batch) {
  batch_ = batch;
  endpoints_.begin(batch.first, batch.count);
}

void Side::take_step(ConnectStep step, EventKind answer, const std::function<void(Endpoint&)>& start) {
  const React react = [answer](Endpoint&, EventKind kind) {
    return kind == answer ? Meaning::kDone : Meaning::kUnexpected;
  };
  BatchStep running(step, batch_, settings_);
  for (std::size_t endpoint = 0; endpoint < batch_.count; ++endpoint) {
    running.start(endpoint, [&] { start(endpoints_.at(endpoint)); });
    if (endpoint + 1 < batch_.count)
      (void)take_event(running, react, 0);  // answers must not wait until all have started
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

/// Whether an event of an endpoint came within the time.
bool Side::take_event(BatchStep& step, const React& react, Seconds longest) {
  std::optional<EndpointEvent> got;
  try {
    got = endpoints_.next_event(longest);
  } catch (const Error& error) {
    step.fail_waiting(error.status(), error.what());
  }
  if (!got || got->event.kind == EventKind::kOther) return false;
  step.attempt(got->endpoint, [&] {
    const Meaning meaning = react(endpoints_.at(got->endpoint), got->event.kind);
    if (meaning == Meaning::kUnexpected) throw Error(ExitStatus::kTimeout, explain(got->event));
    if (meaning == Meaning::kDone) step.finish(got->endpoint);
  });
  return true;
}

void Side::exchange(bool connects) {
  BatchStep step(ConnectStep::kFirstMessage, batch_, settings_);
  for (const MessageResults& exchanged : BatchMessages(endpoints_, settings_, step, connects).exchange_messages()) {
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

void ActiveSide::prepare() {
  take_step(ConnectStep::kResolveAddress, EventKind::kAddressResolved,
            [](Endpoint& endpoint) { endpoint.resolve_address(); });
  take_step(ConnectStep::kResolveRoute, EventKind::kRouteResolved,
            [](Endpoint& endpoint) { endpoint.resolve_route(); });
}

void ActiveSide::meet() {
  take_step(ConnectStep::kConnect, EventKind::kEstablished, [](Endpoint& endpoint) { endpoint.connect(); });
  exchange(true);
}

/// Datagrams need no disconnect.
void ActiveSide::part() {
  if (settings().datagrams()) return;
  take_step(ConnectStep::kDisconnect, EventKind::kDisconnected, [](Endpoint& endpoint) { endpoint.disconnect(); });
}

/// For datagrams, this side is never told that the connection is established.
void PassiveSide::meet() {
  await(ConnectStep::kConnect, [datagrams = settings().datagrams()](Endpoint& endpoint, EventKind kind) {
    if (kind == EventKind::kConnectRequest) {
      endpoint.accept();
      return datagrams ? Meaning::kDone : Meaning::kGoesOn;
    }
    return kind == EventKind::kEstablished ? Meaning::kDone : Meaning::kUnexpected;
  });
  exchange(false);
}

void PassiveSide::part() {
  if (settings().datagrams()) return;
  await(ConnectStep::kDisconnect, [](Endpoint& endpoint, EventKind kind) {
    if (kind != EventKind::kDisconnected) return Meaning::kUnexpected;
    endpoint.disconnect();
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
