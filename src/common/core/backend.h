#pragma once

#include <cstddef>
#include <string>

#include "common/core/datatype.h"

namespace fabricbench {

/// The library being measured: one method for each primitive, and `wait`. A method starts the operation on
/// this rank and may return before it has completed; `wait` returns when all that were started have.
/// Counts are elements and may exceed 2^31. Problems throw Error.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  /// The library's name and version, for people.
  [[nodiscard]] virtual std::string library() const = 0;

  /// Reduces `count` elements of every rank's `send` into every rank's `recv`; in place where both are equal.
  virtual void all_reduce(const void* send, void* recv, std::size_t count, DataType datatype, Reduction reduction) = 0;

  virtual void wait() = 0;
};

}  // namespace fabricbench
