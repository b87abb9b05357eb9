#include "scripted_clock.h"

#include <chrono>
#include <ctime>
#include <mutex>
#include <thread>
#include <utility>

#include "common/core/clock.h"

namespace fabricbench {
namespace {

struct State {
  std::mutex mutex;
  bool scripted = false;
  Seconds time = 0;
  Seconds step = 0;
  Seconds slept = 0;
  std::function<void(Seconds)> when_sleeping;
  std::function<void()> when_reading;
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
  if (const auto action = state().when_reading) {
    lock.unlock();
    action();
    lock.lock();
  }
  return state().time += state().step;
}

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
    action(time);
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
}

ScriptedClock::~ScriptedClock() {
  const std::lock_guard lock(state().mutex);
  state().scripted = false;
  state().when_sleeping = nullptr;
  state().when_reading = nullptr;
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

void ScriptedClock::when_sleeping(std::function<void(Seconds)> action) {
  const std::lock_guard lock(state().mutex);
  state().when_sleeping = std::move(action);
}

void ScriptedClock::when_reading(std::function<void()> action) {
  const std::lock_guard lock(state().mutex);
  state().when_reading = std::move(action);
}

}  // namespace test
}  // namespace fabricbench
