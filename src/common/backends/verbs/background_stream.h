#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "common/backends/verbs/verbs_session.h"
#include "common/core/error.h"
#include "common/core/ownership.h"
#include "common/core/session.h"
#include "common/core/units.h"

namespace fabricbench::verbs {

/// A load on the ports while messages are measured: writes from the first rank of a pair to the second, of which a
/// thread of the first keeps a queue full until this is destroyed. The second rank is passive. The thread never calls
/// MPI (decisions/0003-threads.md).
class BackgroundStream : NotCopied {
 public:
  static constexpr Bytes kMessage = Bytes{64} << 10;

  /// Takes an open session for writes of its own, and begins on the first rank of the pair. Collective over the pair.
  /// Throws Error (missing) if there is no thread.
  BackgroundStream(std::unique_ptr<VerbsSession> session, bool is_first);
  /// Gives up the writes in flight, and takes no longer than that.
  ~BackgroundStream();

  /// Waits until the first bytes are carried: before, the ports have no load. Nothing on the second rank. Throws Error
  /// (not judged) if none are after `patience`, or the one that ended the stream.
  void await_first_bytes(Seconds patience);

  /// The bytes carried so far and the time since the beginning; empty on the second rank. Throws the Error that ended
  /// the stream, if any: what was measured since had no load.
  [[nodiscard]] TransportCounters counters() const;
  void abandon() noexcept;

 private:
  void begin();
  void run() noexcept;
  void keep_full();
  void keep_error(const Error& error);

  std::unique_ptr<VerbsSession> session_;
  Buffers source_;
  Buffers target_;
  Seconds began_ = 0;
  std::atomic<bool> stopping_ = false;
  std::atomic<std::uint64_t> bytes_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable has_carried_;
  std::optional<Error> error_;  // that ended the stream; guarded by the mutex
  std::thread thread_;
};

}  // namespace fabricbench::verbs
