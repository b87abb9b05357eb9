#include "cluster/sweep/flow.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "cluster/sweep/mail.h"
#include "common/core/clock.h"
#include "common/core/statistics.h"
#include "common/core/wording.h"
#include "common/measure/meter.h"

namespace fabricbench::sweep {
namespace {

constexpr std::size_t kPingBytes = 8;
constexpr std::size_t kPingRoom = 256;  // bytes between a ping and its answer in the buffer
constexpr Seconds kPingTime = 0.01;     // for all pings of a pair
constexpr double kPingShare = 0.2;      // of the time for the pair's messages, if that is less
constexpr std::int64_t kLeastPings = 5;
constexpr std::int64_t kMostPings = 200;
constexpr std::int64_t kWindows = 9;  // the time is divided among these; a median needs several
constexpr std::int64_t kLeastWindows = 3;
constexpr std::int64_t kMostWindows = 1000;

/// Thrown within a step whose deadline has passed.
struct TimedOut {};

std::int64_t fitting(Seconds time, Seconds each, std::int64_t least, std::int64_t most) {
  return std::clamp(static_cast<std::int64_t>(std::min(time / std::max(each, 1e-9), 1e9)), least, most);
}

}  // namespace

std::vector<ExpectedBlock> OneDirection::expected(const Layout& layout, const Participant& /*self*/) const {
  if (!flows_.from) return {};
  return {{.begin = 0, .count = layout.count, .source = *flows_.from, .position = 0}};
}

void OneDirection::start(Backend& backend, const Operands& operands) const {
  if (flows_.from) backend.start_recv(operands.recv, operands.count, operands.datatype, *flows_.from);
  if (flows_.to) backend.start_send(operands.send, operands.count, operands.datatype, *flows_.to);
}

FlowMeter::FlowMeter(Session& session, Workspace& workspace, mpi::Mailbox& mailbox, const Options& options,
                     const Case& which, std::function<void()> between)
    : session_(session),
      mailbox_(mailbox),
      options_(options),
      case_(which),
      between_(std::move(between)),
      first_(workspace),
      spaces_(std::make_unique<std::vector<Space>>()) {
  session_.limit_waits(options_.sweep.pair_timeout);
  first_.use(case_.datatype, case_.reduction);
  spaces_->push_back(make_space(nullptr));
}

FlowMeter::~FlowMeter() {
  if (has_abandoned()) static_cast<void>(spaces_.release());
}

FlowMeter::Space FlowMeter::make_space(std::unique_ptr<Workspace> own) {
  Workspace* const workspace = own ? own.get() : &first_;
  return {workspace, std::move(own), Buffers(session_, 2 * kPingRoom)};
}

StepResult FlowMeter::measure(const Flows& flows, bool pings, Seconds deadline) {
  const Flows open = without_lost(flows);
  StepResult result;
  try {
    if (pings) measure_latency(open, deadline, result);
    measure_windows(open, deadline, result);
  } catch (const TimedOut&) {
    give_up(open);
    result.status = ReadingStatus::kTimeout;
    result.reason = fmt::format("no answer within {} s (--pair-timeout); {} had arrived", options_.sweep.pair_timeout,
                                counted(result.windows.size(), "window"));
    result.windows.clear();
  }
  if (flows.from && !open.from) {
    result.status = ReadingStatus::kNotTried;
    result.reason = "messages of an earlier measurement may still be under way";
  }
  return result;
}

Flows FlowMeter::without_lost(const Flows& flows) const {
  Flows open = flows;
  if (open.to && lost_.count(*open.to) > 0) open.to.reset();
  if (open.from && lost_.count(*open.from) > 0) open.from.reset();
  return open;
}

/// Uses other buffers for the next messages, because MPI may still write into those of messages that were given up.
void FlowMeter::give_up(const Flows& flows) {
  if (flows.to) lost_.insert(*flows.to);
  if (flows.from) lost_.insert(*flows.from);
  auto fresh = std::make_unique<Workspace>(session_, first_.pool_bytes(), true, options_.unalign, first_.ranks());
  fresh->use(case_.datatype, case_.reduction);
  spaces_->push_back(make_space(std::move(fresh)));
}

/// Sends a note to one endpoint, and receives the note of the same kind from another one.
template <typename Note>
std::optional<Note> FlowMeter::pass_on(std::optional<int> to, std::optional<int> from, int subject, const Note& note,
                                       Seconds deadline) {
  if (to) mailbox_.post(*to, subject, packed(note));
  if (!from) return std::nullopt;
  const auto message = mailbox_.wait(*from, subject, deadline);
  if (!message) throw TimedOut();
  return unpacked<Note>(*message);
}

/// Half of the round trip to the peer that this endpoint sends to. In a ring all endpoints ping and answer in step.
void FlowMeter::measure_latency(const Flows& flows, Seconds deadline, StepResult& result) {
  static_cast<void>(ping(flows, deadline));  // the first ping sets up the pair's connection
  const Seconds once = ping(flows, deadline);
  const Seconds limit = options_.iterations ? kPingTime : std::min(kPingTime, kPingShare * options_.time_budget);
  const std::int64_t own = flows.to ? fitting(limit, once, kLeastPings, kMostPings) : 0;
  const std::int64_t asked = pass_on(flows.to, flows.from, kPings, own, deadline).value_or(0);
  std::vector<Seconds> times;
  times.reserve(static_cast<std::size_t>(own));
  for (std::int64_t i = 0; i < std::max(own, asked); ++i) {
    const Flows left{i < own ? flows.to : std::nullopt, i < asked ? flows.from : std::nullopt};
    const Seconds time = ping(left, deadline);
    if (left.to) times.push_back(time / 2);
  }
  const Seconds latency = times.empty() ? 0 : median(times);
  const auto told = pass_on(flows.to, flows.from, kLatency, latency, deadline);
  if (flows.to || flows.from) result.latency = told.value_or(latency);
}

/// One ping there and back; returns the time. The receive buffer lies behind the send buffer.
Seconds FlowMeter::ping(const Flows& flows, Seconds deadline) {
  const Seconds began = now();
  send_ping(flows.to, flows.from, deadline);
  send_ping(flows.from, flows.to, deadline);
  return now() - began;
}

void FlowMeter::send_ping(std::optional<int> to, std::optional<int> from, Seconds deadline) {
  Backend& backend = session_.backend(0);
  std::byte* const place = spaces_->back().pings.on(0).data();
  if (from) backend.start_recv(place + kPingRoom, kPingBytes, DataType::kInt8, *from);
  if (to) backend.start_send(place, kPingBytes, DataType::kInt8, *to);
  finish(deadline);
}

void FlowMeter::finish(Seconds deadline) {
  if (!session_.backend(0).finish_by(deadline)) throw TimedOut();
  session_.wait();
}

/// The time of one window with these numbers of messages.
Seconds FlowMeter::time_messages(const Flows& flows, const Plans& plans, Seconds deadline) {
  const OneDirection sending({flows.to, std::nullopt});
  const OneDirection receiving({std::nullopt, flows.from});
  Transfer out = make_transfer(sending);
  Transfer in = make_transfer(receiving);
  return run_window(out, plans.out.messages, in, plans.in.messages, deadline);
}

/// Plans windows from the time of a message that this endpoint receives, and prepares its buffers. The sender gets the
/// receiver's plan.
FlowMeter::Plans FlowMeter::agree(const Flows& flows, Seconds message, Transfer& in, Seconds deadline) {
  Plan plan;
  if (flows.from) {
    plan = plan_for(message);
    in->prepare(plan.messages * plan.windows);
  }
  return {pass_on(flows.from, flows.to, kPlan, plan, deadline).value_or(Plan()), plan};
}

/// The time of one message determines the messages per window, and the time of a window the number of windows. One
/// message alone is no measure: a network that lets bursts exceed its rate delivers it in almost no time.
FlowMeter::Plans FlowMeter::plan_windows(const Flows& flows, Transfer& in, Seconds deadline) {
  const Plans one{{1, 1}, {1, 1}};
  static_cast<void>(time_messages(flows, one, deadline));  // the first messages set up the library's connection
  Plans plans = agree(flows, time_messages(flows, one, deadline), in, deadline);
  const Flows windowed{plans.out.messages > 1 ? flows.to : std::nullopt,
                       plans.in.messages > 1 ? flows.from : std::nullopt};
  if (options_.iterations || (!windowed.to && !windowed.from)) return plans;
  const Seconds window = time_messages(windowed, plans, deadline);
  const Plans better = agree(windowed, window / static_cast<double>(plans.in.messages), in, deadline);
  if (windowed.to) plans.out = better.out;
  if (windowed.from) plans.in = better.in;
  return plans;
}

void FlowMeter::measure_windows(const Flows& flows, Seconds deadline, StepResult& result) {
  const OneDirection sending({flows.to, std::nullopt});
  const OneDirection receiving({std::nullopt, flows.from});
  Transfer out = make_transfer(sending);
  Transfer in = make_transfer(receiving);
  const auto [sent, received] = plan_windows(flows, in, deadline);
  const IdleTime before = idle_until(session_, now());
  for (std::int64_t i = 0; i < std::max(sent.windows, received.windows); ++i) {
    const std::int64_t sends = i < sent.windows ? sent.messages : 0;
    const std::int64_t receives = i < received.windows ? received.messages : 0;
    const Seconds time = run_window(out, sends, in, receives, deadline);
    if (receives > 0) result.windows.push_back(time);
    between_();
  }
  result.messages = received.messages;
  const IdleTime idle = idle_until(session_, now());
  const Seconds elapsed = idle.elapsed - before.elapsed;
  const double own = elapsed > 0 ? (idle.waiting - before.waiting) / elapsed : 0;
  const double of_sender = pass_on(flows.to, flows.from, kWaited, own, deadline).value_or(0);
  result.processor_wait = explaining_wait(std::array{std::max(own, of_sender)});
  check_data(in, received.messages * received.windows, result);
}

FlowMeter::Transfer FlowMeter::make_transfer(const OneDirection& direction) {
  Transfer transfer;
  if (!direction.is_idle()) {
    transfer.emplace(direction, session_, *spaces_->back().workspace, case_, options_.buffers);
  }
  return transfer;
}

Seconds FlowMeter::run_window(Transfer& out, std::int64_t sends, Transfer& in, std::int64_t receives,
                              Seconds deadline) {
  const Seconds began = now();
  for (std::int64_t i = 0; in && i < receives; ++i) in->start();
  for (std::int64_t i = 0; out && i < sends; ++i) out->start();
  finish(deadline);
  return now() - began;
}

FlowMeter::Plan FlowMeter::plan_for(Seconds message) const {
  if (options_.iterations) return {options_.window, *options_.iterations};
  const std::int64_t messages =
      fitting(options_.time_budget / static_cast<double>(kWindows), message, 1, options_.window);
  const Seconds window = message * static_cast<double>(messages);
  return {messages, fitting(options_.time_budget, window, kLeastWindows, kMostWindows)};
}

void FlowMeter::check_data(Transfer& in, std::int64_t received, StepResult& result) const {
  if (!in || options_.checks == 0) return;
  const auto wrong = in->check(received);
  if (!wrong) return;
  result.status = ReadingStatus::kWrong;
  result.wrong = wrong->elements;
  result.reason = fmt::format("first at element {}: expected {}, got {}", wrong->first.first_offset,
                              wrong->first.expected, wrong->first.got);
}

}  // namespace fabricbench::sweep
