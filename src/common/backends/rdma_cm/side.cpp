#include "common/backends/rdma_cm/side.h"

#include <utility>

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

Problem make_one(Side& side, std::uint64_t connection, const Agree& agree) {
  for (const auto& phase :
       {std::function<void()>([&] { side.prepare(); }), std::function<void()>([&] { side.meet(connection); }),
        std::function<void()>([&] { side.part(); })}) {
    if (Problem problem = take_phase(agree, phase); problem.status != ExitStatus::kOk) return problem;
  }
  return {};
}

}  // namespace

Side::Side(Link& link, SideSettings settings)
    : link_(link),
      settings_(std::move(settings)),
      steps_(link, StepSettings{settings_.limit, settings_.peer, settings_.clock}) {}

void Side::exchange(std::uint64_t connection, bool connects) {
  steps_.attempt(ConnectStep::kFirstMessage, [&] {
    const Exchanged exchanged = Exchange(link_, settings_, connection, connects).exchange_messages();
    if (exchanged.first) add_time(ConnectStep::kFirstMessage, *exchanged.first);
    findings_.lost += exchanged.lost;
    if (findings_.wrong == 0) findings_.first_wrong = exchanged.first_wrong;
    findings_.wrong += exchanged.wrong;
  });
}

void Side::take_step(ConnectStep step, EventKind answer, const std::function<void()>& start) {
  add_time(step, steps_.take(step, answer, start));
}

void Side::add_time(ConnectStep step, Seconds time) { findings_.times[static_cast<std::size_t>(step)].push_back(time); }

void ConnectingSide::prepare() {
  take_step(ConnectStep::kResolveAddress, EventKind::kAddressResolved, [&] { link().resolve_address(); });
  take_step(ConnectStep::kResolveRoute, EventKind::kRouteResolved, [&] { link().resolve_route(); });
}

void ConnectingSide::meet(std::uint64_t connection) {
  take_step(ConnectStep::kConnect, EventKind::kEstablished, [&] { link().connect(); });
  exchange(connection, true);
}

/// Datagrams need no disconnect.
void ConnectingSide::part() {
  if (settings().transport == Transport::kUd) return;
  take_step(ConnectStep::kDisconnect, EventKind::kDisconnected, [&] { link().disconnect(); });
}

/// For datagrams, this side is never told that the connection is established.
void AcceptingSide::meet(std::uint64_t connection) {
  steps().await(EventKind::kConnectRequest, ConnectStep::kConnect);
  steps().attempt(ConnectStep::kConnect, [&] { link().accept(); });
  if (settings().transport != Transport::kUd) steps().await(EventKind::kEstablished, ConnectStep::kConnect);
  exchange(connection, false);
}

void AcceptingSide::part() {
  if (settings().transport == Transport::kUd) return;
  steps().await(EventKind::kDisconnected, ConnectStep::kDisconnect);
  steps().attempt(ConnectStep::kDisconnect, [&] { link().disconnect(); });
}

Series make_connections(Side& side, std::int64_t count, const Agree& agree, const std::function<Seconds()>& clock) {
  Series series;
  const Seconds began = clock();
  for (std::int64_t connection = 0; connection < count; ++connection) {
    series.problem = make_one(side, static_cast<std::uint64_t>(connection), agree);
    side.close();
    if (series.problem.status != ExitStatus::kOk) break;
    ++series.made;
  }
  series.took = clock() - began;
  return series;
}

}  // namespace fabricbench::rdma_cm
