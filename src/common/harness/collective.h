#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "common/core/backend.h"
#include "common/core/datatype.h"
#include "common/core/units.h"

namespace fabricbench {

/// How many elements a rank sends and receives for one message size. `count` is what the table's count
/// column shows: the elements given to the operation.
struct Layout {
  std::uint64_t send_count = 0;
  std::uint64_t recv_count = 0;
  std::uint64_t count = 0;
};

/// A stretch of the receive buffer and what must stand there afterwards, in elements.
struct ExpectedBlock {
  static constexpr int kReduced = -1;
  std::uint64_t begin = 0;
  std::uint64_t count = 0;
  int source = kReduced;       ///< the rank whose data it is, or kReduced
  std::uint64_t position = 0;  ///< where in the source's data it begins
};

/// One operation's arguments, as the timed loop hands them on.
struct Operands {
  const void* send;
  void* recv;
  std::uint64_t count;
  DataType datatype;
  Reduction reduction;
  int root;
};

/// What makes one collective different from the next: how it lays out data, what it must deliver, how its
/// bus bandwidth follows from its time, and which primitive it starts.
class Collective {
 public:
  Collective() = default;
  Collective(const Collective&) = delete;
  Collective& operator=(const Collective&) = delete;
  virtual ~Collective() = default;

  /// As in the program's name without `_perf`.
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual Layout layout(std::uint64_t elements, int ranks) const = 0;
  [[nodiscard]] virtual double bus_factor(int ranks) const = 0;
  /// What `rank` must find in its receive buffer.
  [[nodiscard]] virtual std::vector<ExpectedBlock> expected(const Layout& layout, int rank) const = 0;
  virtual void start(Backend& backend, const Operands& operands) const = 0;
};

}  // namespace fabricbench
