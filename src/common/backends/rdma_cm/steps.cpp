#include "common/backends/rdma_cm/steps.h"

#include <optional>

#include <fmt/format.h>

#include "common/core/error.h"

namespace fabricbench::rdma_cm {
namespace {

const char* doing(ConnectStep step) {
  switch (step) {
    case ConnectStep::kResolveAddress: return "resolving the address of";
    case ConnectStep::kResolveRoute: return "resolving the route to";
    case ConnectStep::kConnect: return "connecting with";
    case ConnectStep::kFirstMessage: return "exchanging messages with";
    case ConnectStep::kDisconnect: return "disconnecting from";
  }
  return "";
}

[[noreturn]] void fail(ExitStatus status, ConnectStep step, const std::string& peer, const std::string& why) {
  throw Error(status, in_step(step, peer, why));
}

}  // namespace

std::string in_step(ConnectStep step, const std::string& peer, const std::string& why) {
  return fmt::format("{} {}: {}", doing(step), peer, why);
}

void Steps::await(EventKind wanted, ConnectStep step, Seconds limit) const {
  const Seconds began = settings_.clock();
  for (Seconds left = limit; left > 0; left = limit - (settings_.clock() - began)) {
    std::optional<Event> event;
    attempt(step, [&] { event = handshake_.next_event(left); });
    if (!event || event->kind == EventKind::kOther) continue;
    if (event->kind == wanted) return;
    fail(ExitStatus::kTimeout, step, settings_.peer, explain(*event));
  }
  fail(ExitStatus::kTimeout, step, settings_.peer, explain_silence(step, limit));
}

void Steps::attempt(ConnectStep step, const std::function<void()>& act) const {
  try {
    act();
  } catch (const Error& error) {
    fail(error.status(), step, settings_.peer, error.what());
  }
}

Seconds Steps::take(ConnectStep step, EventKind answer, const std::function<void()>& start) const {
  const Seconds began = settings_.clock();
  attempt(step, start);
  await(answer, step);
  return settings_.clock() - began;
}

}  // namespace fabricbench::rdma_cm
