#pragma once

#include <cstdint>
#include <filesystem>

#include "common/core/clock.h"
#include "common/core/units.h"

namespace fabricbench::host {

// The processor's time counter: a source file for each kind of processor, of which src/CMakeLists.txt chooses one.

// Whether `processor_count` supports this kind of processor.
[[nodiscard]] bool has_processor_counter();

// The counter's value, read after all preceding instructions have completed; 0 if unsupported. The kernel knows whether
// it is constant and the same on all processors.
[[nodiscard, gnu::hot]] std::uint64_t processor_count();

// A counter of short, equal time steps, to be read after every message: the processor's time stamp counter if the
// kernel's own clock uses it, because it is then constant and the same on all processors; else nanoseconds of the
// clock. Reading the counter takes about a third of a clock read.
class TickCounter {
 public:
  explicit TickCounter(const std::filesystem::path& root = "/");

  // Reads it after all preceding instructions have completed.
  [[nodiscard]] std::uint64_t read() const {
    return trusted_ ? processor_count() : static_cast<std::uint64_t>(now() * 1e9);
  }
  // Seconds per step by the clock, measured since this object was created; longer times are more exact.
  [[nodiscard]] Seconds tick() const;
  // Whether `read` reads the processor's counter.
  [[nodiscard]] bool is_processors() const { return trusted_; }
  // The duration of one `read`.
  [[nodiscard]] Seconds cost() const;

 private:
  // The same moment on both.
  struct Moment {
    std::uint64_t count;
    Seconds time;
  };
  [[nodiscard]] Moment moment() const;

  bool trusted_;
  Moment made_;
};

}  // namespace fabricbench::host
