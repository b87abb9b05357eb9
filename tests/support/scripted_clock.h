#pragma once

// Time as a test says. A program that has scripted_clock.cpp among its sources reads its clock and makes its pauses
// there (common/core/clock.h): the real ones, unless a ScriptedClock exists.

#include <functional>

#include "common/core/units.h"

namespace fabricbench::test {

/// While one exists, now() shows what it says, and sleep_for() takes no real time and moves it on by what was asked.
/// One at a time. Threads may read it at the same time.
class ScriptedClock {
 public:
  /// Shows `begin` at first, and moves on by `step` with every reading.
  explicit ScriptedClock(Seconds begin = 1000, Seconds step = 0);
  ScriptedClock(const ScriptedClock&) = delete;
  ScriptedClock& operator=(const ScriptedClock&) = delete;
  ~ScriptedClock();

  void advance(Seconds time);
  /// From now on it shows `time`.
  void show(Seconds time);
  /// What it shows; does not move it on.
  [[nodiscard]] Seconds shows() const;
  /// The pauses that were made, in seconds.
  [[nodiscard]] Seconds slept() const;
  /// How often now() was read.
  [[nodiscard]] int readings() const;
  /// Called before every reading with its number, from 1 on: a test that knows the order of readings may advance there.
  /// Of this and the next, the last one given counts; an empty one is none.
  void when_reading(std::function<void(int)> action);
  /// Called in every pause, before the time of it has passed.
  void when_sleeping(std::function<void(Seconds)> action);
};

}  // namespace fabricbench::test
