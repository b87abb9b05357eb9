#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include <mpi.h>

#include "common/core/ownership.h"
#include "common/core/units.h"
#include "common/mpi/communicator.h"

namespace fabricbench::mpi {

/// Small messages between two ranks, separate from measured ones. No call waits for a rank that may have died: posting
/// returns at once, and receiving has a time limit.
class Mailbox : NotCopied {
 public:
  struct Message {
    int from = 0;
    std::vector<std::byte> bytes;
  };
  static constexpr int kAnybody = MPI_ANY_SOURCE;

  /// `communicator`, to which this rank belongs, must carry no other messages between single ranks, and must outlive
  /// this.
  explicit Mailbox(const Communicator& communicator) : communicator_(communicator.get()) {}
  /// Leaves undelivered messages to MPI.
  ~Mailbox();

  /// Sends a message. Messages of the same rank and subject arrive in order. `subject`: from 0 to 32767.
  void post(int to, int subject, std::vector<std::byte> bytes);
  /// The next message of a subject that has arrived; empty if none has.
  [[nodiscard]] std::optional<Message> look(int from, int subject);
  /// The same, waiting until `deadline` on core's clock. It polls, and soon sleeps between two polls.
  [[nodiscard]] std::optional<Message> wait(int from, int subject, Seconds deadline);

 private:
  struct Posted {
    MPI_Request request;
    std::unique_ptr<std::vector<std::byte>> bytes;
  };
  void forget_delivered();

  MPI_Comm communicator_;
  std::deque<Posted> posted_;
};

/// Pauses within a polling loop: not at all in the first millisecond, because most waits end soon, and then briefly, to
/// leave the processor to others.
class Backoff {
 public:
  void rest();

 private:
  std::optional<Seconds> began_;
};

}  // namespace fabricbench::mpi
