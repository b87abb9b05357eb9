#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/backend.h"
#include "common/core/bandwidth.h"
#include "common/core/datatype.h"
#include "common/core/session.h"
#include "common/core/traffic.h"
#include "common/core/units.h"
#include "common/record/context.h"

namespace fabricbench {

namespace mpi {
class Communicator;
}
class Team;
struct BackendChoice;
struct PairPlan;
struct Placed;

/// The port that this process's messages go through.
struct OwnPort {
  std::string name;  ///< such as `mlx5_0 port 1`; empty: not known
  double rate = 0;   ///< bytes per second of one direction; 0: not known
};

/// What a message size asks for: so many elements, each so large.
struct Request {
  std::uint64_t elements = 0;
  Bytes element_bytes = 1;
};

/// How many elements a rank sends and receives for one message size; the most of any rank where they differ.
/// `count` is what the table's count column shows: the elements given to the operation.
struct Layout {
  std::uint64_t send_count = 0;
  std::uint64_t recv_count = 0;
  std::uint64_t count = 0;
};

/// A rank's place in one operation.
struct Seat {
  int rank = 0;
  int ranks = 1;
  int root = -1;
  bool in_place = false;
  Bytes element_bytes = 1;
  Conventions conventions{};
};

/// Where a rank's data lie in the one buffer of an in-place operation, in elements.
struct InPlace {
  std::uint64_t send_begin = 0;
  std::uint64_t recv_begin = 0;
};

/// A stretch of the receive buffer and what must stand there afterwards, in elements.
struct ExpectedBlock {
  static constexpr int kReduced = -1;
  std::uint64_t begin = 0;
  std::uint64_t count = 0;
  int source = kReduced;       ///< the rank whose data it is, or kReduced
  std::uint64_t position = 0;  ///< where in what the source sends it begins
};

/// How long a rank's windows took until all that it receives had arrived.
struct ReceiveTime {
  Seconds began = 0;  ///< of the window under way
  Seconds total = 0;
};

/// One operation's arguments, as the timed loop hands them on.
struct Operands {
  const std::byte* send;
  std::byte* recv;
  std::uint64_t count;
  DataType datatype;
  Reduction reduction;
  int root;
  int rank;
  int ranks;
  int stage;                 ///< from 0; see Collective::stages
  const Exchange* exchange;  ///< null where the collective has none
  ReceiveTime* receiving;    ///< of windows in both directions, to be added to
};

/// What makes one collective different from the next: how it lays out data, what it must deliver, how its
/// bandwidths follow from its time, and which primitive it starts. Messages between two ranks are a collective of these
/// two; see PairTest.
class Collective {
 public:
  Collective() = default;
  Collective(const Collective&) = delete;
  Collective& operator=(const Collective&) = delete;
  virtual ~Collective() = default;

  /// As in the program's name without `_perf`.
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual Figure figure() const { return Figure::kCollective; }
  [[nodiscard]] virtual bool reduces() const { return false; }
  [[nodiscard]] virtual bool has_root() const { return false; }
  [[nodiscard]] virtual bool moves_data() const { return true; }
  /// Why so many ranks cannot do it; empty where they can.
  [[nodiscard]] virtual std::string why_not(int /*ranks*/) const { return ""; }
  /// Takes who sends how much to whom, where sizes alone do not say it. Called once, before all others.
  virtual void use(const Traffic& /*traffic*/) {}

  [[nodiscard]] virtual Layout layout(Request request, int ranks) const = 0;
  [[nodiscard]] virtual double bus_factor(int ranks) const = 0;
  /// Which part of the message size counts for the algorithm bandwidth.
  [[nodiscard]] virtual double counted_share(int /*ranks*/) const { return 1; }
  /// Nothing where there is no in-place form.
  [[nodiscard]] virtual std::optional<InPlace> in_place(const Layout& /*layout*/, const Seat& /*seat*/) const {
    return std::nullopt;
  }
  /// What a rank must find in its receive buffer; nothing where it receives nothing.
  [[nodiscard]] virtual std::vector<ExpectedBlock> expected(const Layout& layout, const Seat& seat) const = 0;
  [[nodiscard]] virtual std::optional<Exchange> exchange(const Layout& /*layout*/, const Seat& /*seat*/) const {
    return std::nullopt;
  }

  /// An operation may be several steps, each of which needs the one before to have been started on all ranks of a
  /// process; `start` is called for one after the other.
  [[nodiscard]] virtual int stages(int /*ranks*/) const { return 1; }
  virtual void start(Backend& backend, const Operands& operands) const = 0;

  /// Messages that follow each other in one start, each waiting for the one before; times are of one of them.
  [[nodiscard]] virtual int messages_in_turn() const { return 1; }
  /// Whether the operations of an iteration are a window. `finish_window` completes them, on all ranks of a process
  /// before `answer_window` starts on any of them what follows a window.
  [[nodiscard]] virtual bool windowed() const { return false; }
  virtual void finish_window(Backend& /*backend*/, const Operands& /*operands*/) const {}
  virtual void answer_window(Backend& /*backend*/, const Operands& /*operands*/) const {}
  /// Over connections of its own, not by a library.
  [[nodiscard]] virtual bool sockets() const { return false; }
  /// Takes what options say of the way in which messages follow each other. Called once, before all others but `name`,
  /// `figure` and `verb`.
  virtual void configure(const Options& /*options*/) {}
  /// What it does over RDMA.
  [[nodiscard]] virtual Verb verb() const { return Verb::kNone; }
  /// Opens what it runs on, as choose_backend does; nothing where that is to choose.
  [[nodiscard]] virtual std::optional<BackendChoice> open(const Team& team, const Placed& placed,
                                                          const Options& options) const;
  /// Whether operations of a window follow each other without an end, so that windows may have any number of them.
  [[nodiscard]] virtual bool streams() const { return false; }
  /// The rank that has nothing to do while another one's device works on its memory; -1: none.
  [[nodiscard]] virtual int idle_rank() const { return -1; }
  /// Of two directions, whether a rank's time is of what it sends; else of what it receives.
  [[nodiscard]] virtual bool times_what_it_sends() const { return false; }
  /// Why a message of this size cannot be measured; empty where it can.
  [[nodiscard]] virtual std::string why_no_message(Bytes /*size*/) const { return ""; }
  /// What the time of a row is, where the figure alone does not say it.
  [[nodiscard]] virtual std::string_view time_means() const { return ""; }
  /// Rounds in which a sweep over pairs of that many ranks goes; 0 for what is no sweep.
  [[nodiscard]] virtual std::int64_t rounds(const Options& /*options*/, int /*ranks*/) const { return 0; }
  /// What --pairs is where it is not given.
  [[nodiscard]] virtual std::string_view default_pairs(const Options& /*options*/, bool /*one_host*/) const {
    return "";
  }
  /// Settles what each process uses of its host, before any pair is set up. Collective over the job, of which not all
  /// processes need be in a pair. Throws Error, the same on every process.
  virtual void prepare(const mpi::Communicator& /*job*/, const PairPlan& /*plan*/, const Options& /*options*/) {}
  /// After `prepare`; nothing of what has no ports of its own.
  [[nodiscard]] virtual OwnPort own_port() const { return {}; }
};

/// The part of a message that one of `ranks` gets: whole elements, and whole 16 bytes, as nccl-tests rounds it.
[[nodiscard]] constexpr std::uint64_t part_of(const Request& request, int ranks) {
  const std::uint64_t alignment = 16 / request.element_bytes;
  const std::uint64_t part = request.elements / static_cast<std::uint64_t>(ranks);
  return part - part % alignment;
}

/// What every rank's part makes, one behind the other by rank; `position` of each in what its source sends.
[[nodiscard]] std::vector<ExpectedBlock> part_of_each(std::uint64_t part, int ranks, std::uint64_t position);

}  // namespace fabricbench
