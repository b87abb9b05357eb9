#pragma once

#include <cstdint>
#include <filesystem>

#include "common/core/clock.h"
#include "common/core/units.h"
#include "common/host/processor_counter.h"

namespace fabricbench::host {

// A count of short, equal lengths of time, for what is read after every single message: the processor's time stamp
// counter where the kernel itself takes the time from it, and which is then constant and the same on all processors;
// else nanoseconds of the clock. Reading the counter takes about a third of a clock read.
class TickCounter {
 public:
  explicit TickCounter(const std::filesystem::path& root = "/");

  // Not before what stands in front of it in the program has been done.
  [[nodiscard]] std::uint64_t read() const {
    return trusted_ ? processor_count() : static_cast<std::uint64_t>(now() * 1e9);
  }
  // Seconds between two counts, by the clock, since this object was made: the longer that is, the more exact.
  [[nodiscard]] Seconds tick() const;
  // Whether `read` reads the processor's counter.
  [[nodiscard]] bool is_processors() const { return trusted_; }
  // What one `read` takes.
  [[nodiscard]] Seconds cost() const;

 private:
  // The same moment by both.
  struct Moment {
    std::uint64_t count;
    Seconds time;
  };
  [[nodiscard]] Moment moment() const;

  bool trusted_;
  Moment made_;
};

}  // namespace fabricbench::host
