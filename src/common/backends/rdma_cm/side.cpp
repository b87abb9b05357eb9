#include "common/backends/rdma_cm/side.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/backends/rdma_cm/exchange.h"
#include "common/core/error.h"

namespace fabricbench::rdma_cm {
namespace {

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
