#include "scripted_clock.h"

#include <chrono>
#include <ctime>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "common/core/clock.h"
#include "common/host/usage.h"

namespace fabricbench {
namespace {

struct State {
  std::mutex mutex;
  bool scripted = false;
  Seconds time = 0;
  Seconds step = 0;
  Seconds slept = 0;
  int readings = 0;
  // Shared, so that an action with a state of its own keeps it, and may be replaced while it is called.
  std::shared_ptr<std::function<void(int)>> when_reading;
  std::shared_ptr<std::function<void(Seconds)>> when_sleeping;
};

State& state() {
  static State only;
  return only;
}

Seconds real_time() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<Seconds>(time.tv_sec) + 1e-9 * static_cast<Seconds>(time.tv_nsec);
}

}  // namespace

Seconds now() {
  std::unique_lock lock(state().mutex);
  if (!state().scripted) return real_time();
  const int number = ++state().readings;
  if (const auto action = state().when_reading) {
    lock.unlock();
    (*action)(number);
    lock.lock();
  }
  return state().time += state().step;
}

Seconds host::lead_of_clock() { return 0; }  // a scripted clock differs from the kernel's by intent

void sleep_for(Seconds time) {
  if (time <= 0) return;
  std::unique_lock lock(state().mutex);
  if (!state().scripted) {
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::duration<Seconds>(time));
    return;
  }
  if (const auto action = state().when_sleeping) {
    lock.unlock();
    (*action)(time);
    lock.lock();
  }
  state().time += time;
  state().slept += time;
}

namespace test {

ScriptedClock::ScriptedClock(Seconds begin, Seconds step) {
  const std::lock_guard lock(state().mutex);
  state().scripted = true;
  state().time = begin;
  state().step = step;
  state().slept = 0;
  state().readings = 0;
}

ScriptedClock::~ScriptedClock() {
  const std::lock_guard lock(state().mutex);
  state().scripted = false;
  state().when_reading = nullptr;
  state().when_sleeping = nullptr;
}

void ScriptedClock::advance(Seconds time) {
  const std::lock_guard lock(state().mutex);
  state().time += time;
}

void ScriptedClock::show(Seconds time) {
  const std::lock_guard lock(state().mutex);
  state().time = time;
}

Seconds ScriptedClock::shows() const {
  const std::lock_guard lock(state().mutex);
  return state().time;
}

Seconds ScriptedClock::slept() const {
  const std::lock_guard lock(state().mutex);
  return state().slept;
}

int ScriptedClock::readings() const {
  const std::lock_guard lock(state().mutex);
  return state().readings;
}

void ScriptedClock::when_reading(std::function<void(int)> action) {
  const std::lock_guard lock(state().mutex);
  state().when_reading = action ? std::make_shared<std::function<void(int)>>(std::move(action)) : nullptr;
}

void ScriptedClock::when_sleeping(std::function<void(Seconds)> action) {
  const std::lock_guard lock(state().mutex);
  state().when_sleeping = action ? std::make_shared<std::function<void(Seconds)>>(std::move(action)) : nullptr;
}

}  // namespace test
}  // namespace fabricbench
