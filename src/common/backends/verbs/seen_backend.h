#pragma once

#include <cstddef>

#include "common/backends/verbs/verbs_backend.h"
#include "common/core/backend.h"

namespace fabricbench::verbs {

/// Messages that count where the one that they are for can see them; in the place of a session's own VerbsBackend.
class SeenBackend : public MessagesOnly {
 public:
  virtual void add_block(const Block& block) = 0;
  /// The block is about to be given back, and nothing may touch it any more.
  virtual void forget_block(const std::byte* data) noexcept = 0;
  /// Gives up what is under way, from any thread.
  virtual void abandon() noexcept {}
};

}  // namespace fabricbench::verbs
