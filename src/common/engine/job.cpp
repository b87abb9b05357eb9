#include "common/engine/job.h"

#include <cstdio>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "common/core/error.h"
#include "common/core/plain_text.h"
#include "common/host/identity.h"
#include "common/mpi/environment.h"

namespace fabricbench {

namespace {

/// For steps other than measuring. Steps with a limit of their own have little more than the timeout (NCCL's 1.1 times,
/// and 1 s), and the other processes wait longer than the first one.
Watched watched(const Watchdog& watchdog) {
  const Seconds timeout = watchdog.timeout();
  return {.name = watchdog.name(), .grace = 0.75 * (StallDetector::patience(1, timeout, 0) - timeout)};
}

}  // namespace

void say(const std::string& program, const std::string& what) {
  fmt::print(stderr, "{}: {}\n", program, cut_short(what));
  std::fflush(stderr);
}

void meet(const mpi::Communicator& group, Watchdog& watchdog, bool greets) {
  Watched with_greeting = watched(watchdog);
  with_greeting.greets = greets;
  watchdog.meet(group, std::move(with_greeting));
}

void call_roll(const mpi::Communicator& world, Watchdog& watchdog) {
  if (watchdog.timeout() > 0) watchdog.call_roll(world, watched(watchdog));
}

std::int64_t max_at_rest(const mpi::Communicator& group, Heartbeat& heartbeat, std::int64_t value) {
  const IdleWait idle_wait(heartbeat);
  return group.max_asleep(value, [&heartbeat] { heartbeat.wait_on(); });
}

void end_job(const std::string& program, const std::exception& error) {
  const mpi::Launch launch = mpi::launch_from_environment();
  say(program, fmt::format("{}: {}", host::name_of_process(launch.rank, host::host_name()), message_of(error)));
  mpi::abort(status_of(error));
}

std::uint64_t agreed_seed(const mpi::Communicator& world, const Options& options) {
  std::random_device random;
  const auto drawn = static_cast<std::int64_t>(random());
  return options.seed ? *options.seed : static_cast<std::uint64_t>(world.broadcast(drawn));
}

}  // namespace fabricbench
