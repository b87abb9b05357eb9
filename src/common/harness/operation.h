#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/core/backend.h"
#include "common/core/options.h"
#include "common/core/pattern_table.h"
#include "common/core/units.h"
#include "common/harness/collective.h"
#include "common/harness/workspace.h"

namespace fabricbench {

/// One thing to measure: a size, a datatype, a reduction, a root and a placement.
struct Case {
  Bytes size = 0;  ///< bytes of the larger of the two buffers
  Layout layout;
  DataType datatype = DataType::kFloat;
  Reduction reduction = Reduction::kNone;
  int root = -1;
  bool in_place = false;
};

/// Such as `64 KiB float sum, in-place`.
[[nodiscard]] std::string describe(const Case& which);

/// A case bound to this rank's buffers: prepares them, starts the operation, checks the result.
class Operation {
 public:
  Operation(const Collective& collective, Backend& backend, Workspace& workspace, const Case& which,
            BufferPolicy policy, int rank);

  /// Makes the buffers ready for `starts` operations: input in place, receive buffer poisoned where the last
  /// of them will write, guard zone behind.
  void prepare(std::int64_t starts);

  /// Starts the next operation. This is what the timed loops call.
  void start() {
    operands_.send = send_ + offset_;
    operands_.recv = recv_ + offset_;
    collective_.start(backend_, operands_);
    offset_ = offset_ == last_offset_ ? 0 : offset_ + stride_;
  }
  void wait() { backend_.wait(); }

  /// Whether the last of several results is defined: in place, the second operation works on the first one's.
  [[nodiscard]] bool last_result_is_defined(std::int64_t starts) const { return !case_.in_place || starts == 1; }

  /// Compares the last of `starts` results with what it must be, and looks whether the guard zone is whole.
  [[nodiscard]] std::optional<Mismatch> check(std::int64_t starts);

  [[nodiscard]] const Case& which() const { return case_; }

 private:
  [[nodiscard]] std::size_t offset_of(std::int64_t start) const;
  [[nodiscard]] std::size_t used_bytes(std::int64_t starts) const;
  [[nodiscard]] std::optional<Mismatch> check_guard(std::int64_t starts);
  [[nodiscard]] const PatternTable& table_of(const ExpectedBlock& block, std::optional<PatternTable>& made) const;

  const Collective& collective_;
  Backend& backend_;
  Workspace& workspace_;
  Case case_;
  int rank_;
  std::size_t element_;
  std::size_t stride_;       // bytes from one start's buffers to the next one's
  std::size_t last_offset_;  // of the last place before the first one comes again
  std::size_t offset_ = 0;
  const std::byte* send_;
  std::byte* recv_;
  Operands operands_;
};

}  // namespace fabricbench
