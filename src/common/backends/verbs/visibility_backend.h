#pragma once

#include <cstddef>

#include "common/backends/verbs/verbs_backend.h"
#include "common/core/backend.h"

namespace fabricbench::verbs {

/// Messages that count when their consumer can see them; replaces a session's own VerbsBackend.
class VisibilityBackend : public Backend {
 public:
  virtual void add_block(const Block& block) = 0;
  /// Stops all use of a block that is about to be released.
  virtual void forget_block(const std::byte* data) noexcept = 0;
  /// Gives up the messages in flight; from any thread.
  virtual void abandon() noexcept {}
};

}  // namespace fabricbench::verbs
