#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include <mpi.h>

#include "common/core/units.h"
#include "common/mpi/communicator.h"

namespace fabricbench::mpi {

/// Small messages between two ranks, beside those that are measured. Nothing here waits for a rank that may have died:
/// posting returns at once, and receiving gives up at a time limit.
class Mailbox {
 public:
  struct Message {
    int from = 0;
    std::vector<std::byte> bytes;
  };
  static constexpr int kAnybody = MPI_ANY_SOURCE;

  /// `communicator`, of whose ranks this is one, is to carry nothing else between single ranks, and must outlive this.
  explicit Mailbox(const Communicator& communicator) : communicator_(communicator.get()) {}
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;
  /// What has not arrived by then is left to MPI.
  ~Mailbox();

  /// Sends a message. Those of a rank with the same subject arrive in order. `subject`: from 0 to 32767.
  void post(int to, int subject, std::vector<std::byte> bytes);
  /// The next message of a subject that has arrived; nothing where none has.
  [[nodiscard]] std::optional<Message> look(int from, int subject);
  /// The same, waiting for it until `deadline`, by core's clock. It polls, and soon sleeps between two looks.
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

/// Rests a moment within a loop that polls: not at all in the first millisecond, since what is waited for comes soon
/// or late, then for as long as a processor that others need is worth.
class Patience {
 public:
  void rest();

 private:
  std::optional<Seconds> began_;
};

}  // namespace fabricbench::mpi
