#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/core/backend.h"
#include "common/core/bandwidth.h"
#include "common/core/datatype.h"
#include "common/core/options.h"
#include "common/core/ownership.h"
#include "common/core/session.h"
#include "common/core/traffic.h"
#include "common/core/units.h"
#include "common/record/context.h"

namespace fabricbench {

/// A message size as a number of elements, and the size of an element.
struct Request {
  std::uint64_t elements = 0;
  Bytes element_bytes = 1;
};

/// The elements that a rank sends and receives for one message size; the maximum over ranks if they differ. `count` is
/// the table's count column: the elements given to the operation.
struct Layout {
  std::uint64_t send_count = 0;
  std::uint64_t recv_count = 0;
  std::uint64_t count = 0;
};

/// A rank's part in one operation.
struct Participant {
  int rank = 0;
  int ranks = 1;
  int root = -1;
  bool in_place = false;
  Bytes element_bytes = 1;
  Conventions conventions{};
};

/// The places of a rank's data in the one buffer of an in-place operation, in elements.
struct InPlace {
  std::uint64_t send_begin = 0;
  std::uint64_t recv_begin = 0;
};

/// A part of the receive buffer with its expected contents, in elements.
struct ExpectedBlock {
  static constexpr int kReduced = -1;
  std::uint64_t begin = 0;
  std::uint64_t count = 0;
  int source = kReduced;       ///< the rank that sends these data, or kReduced
  std::uint64_t position = 0;  ///< offset in the source's data
};

/// The time in which a rank's windows have received all their data.
struct ReceiveTime {
  Seconds began = 0;  ///< start of the current window
  Seconds total = 0;
};

/// The arguments of one operation, as the timed loop passes them.
struct Operands {
  const std::byte* send;
  std::byte* recv;
  std::uint64_t count;
  DataType datatype;
  Reduction reduction;
  int root;
  int rank;
  int ranks;
  int stage;                      ///< from 0; see Test::stages
  const AllToAllVCounts* counts;  ///< null where the collective has none
  ReceiveTime* receiving;         ///< windows in both directions: the time is added here
};

/// The properties of a test that do not depend on the ranks, hosts and library.
struct TestTraits {
  std::string name;  ///< as in the program's name without `_perf`
  RowKind row_kind = RowKind::kCollective;

  // Of collectives:
  bool reduces = false;
  bool has_root = false;
  bool moves_data = true;
  int most_peers = 0;  ///< other ranks to which a rank sends or from which it receives, if they are few; 0: not known

  // Of messages between the two ranks of a pair:
  int messages_in_turn = 1;  ///< messages per start, each waiting for the previous one; times are per message
  int idle_rank = -1;  ///< rank that has nothing to do while the other rank's device accesses its memory; -1: none
  bool times_what_it_sends = false;  ///< both directions: a rank's time is that of the direction in which it sends
  std::string time_means{};          ///< meaning of a row's time, if the figure does not define it
};

/// Many messages in flight at once: the operations of an iteration form a window.
class Windows {
 public:
  /// Completes a window. All ranks of a process do this before `answer` starts on any of them.
  virtual void finish(Backend& backend, const Operands& operands) const = 0;
  virtual void answer(Backend& backend, const Operands& operands) const = 0;
  /// Whether windows follow each other without a break, so that a window may have any number of operations.
  [[nodiscard]] virtual bool are_stream() const { return false; }

 protected:
  ~Windows() = default;
};

/// A measurement: the layout of its data, the expected results, the bandwidths that follow from its time, and the
/// primitive of a backend that it starts.
class Test : public InterfaceBase {
 public:
  explicit Test(TestTraits traits) : traits_(std::move(traits)) {}

  [[nodiscard]] const TestTraits& traits() const { return traits_; }

  /// Takes the options. Called once, before everything else but `traits`.
  virtual void configure(const Options& /*options*/) {}
  /// Takes the bytes that each rank sends to each other, if sizes do not determine them. Called once, before data are
  /// laid out.
  virtual void use(const Traffic& /*traffic*/) {}
  /// Why this number of ranks is not possible; empty if it is.
  [[nodiscard]] virtual std::string why_not_ranks(int /*ranks*/) const { return ""; }
  /// Why a message of this size cannot be measured; empty if it can.
  [[nodiscard]] virtual std::string why_not_size(Bytes /*size*/) const { return ""; }

  [[nodiscard]] virtual Layout layout(Request request, int ranks) const = 0;
  /// Empty if there is no in-place form.
  [[nodiscard]] virtual std::optional<InPlace> in_place(const Layout& /*layout*/, const Participant& /*self*/) const {
    return std::nullopt;
  }
  /// The expected contents of a rank's receive buffer; empty if it receives nothing.
  [[nodiscard]] virtual std::vector<ExpectedBlock> expected(const Layout& layout, const Participant& self) const = 0;
  [[nodiscard]] virtual std::optional<AllToAllVCounts> counts(const Layout& /*layout*/,
                                                              const Participant& /*self*/) const {
    return std::nullopt;
  }

  [[nodiscard]] virtual double bus_factor(int ranks) const = 0;
  /// What the links between hosts have to carry. Unknown by default.
  [[nodiscard]] virtual HostTraffic host_traffic(const RanksOnHosts& /*group*/) const { return {}; }
  /// The part of the message size that counts for the algorithm bandwidth.
  [[nodiscard]] virtual double counted_share(int /*ranks*/) const { return 1; }

  /// The number of steps of an operation. A step may start once the previous one has been started on all ranks of a
  /// process; `start` is called for each step.
  [[nodiscard]] virtual int stages(int /*ranks*/) const { return 1; }
  virtual void start(Backend& backend, const Operands& operands) const = 0;
  /// Starts several operations of one step that use the same buffers, as in a window.
  virtual void start_many(Backend& backend, const Operands& operands, std::int64_t operations) const {
    for (std::int64_t i = 0; i < operations; ++i) start(backend, operands);
  }
  /// Null if each operation completes by itself.
  [[nodiscard]] virtual const Windows* windows() const { return nullptr; }

 protected:
  TestTraits traits_;
};

/// An operation of all ranks together.
class Collective : public Test {
 public:
  using Test::Test;
};

/// The part of a message for one of `ranks`: whole elements, and whole 16 bytes, rounded as in nccl-tests.
[[nodiscard]] constexpr std::uint64_t part_of(const Request& request, int ranks) {
  const std::uint64_t alignment = 16 / request.element_bytes;
  const std::uint64_t part = request.elements / static_cast<std::uint64_t>(ranks);
  return part - part % alignment;
}

/// The blocks of a buffer that holds every rank's part, in order of rank. `position`: the offset of each part in its
/// source's data.
[[nodiscard]] inline std::vector<ExpectedBlock> part_of_each(std::uint64_t part, int ranks, std::uint64_t position) {
  std::vector<ExpectedBlock> blocks;
  blocks.reserve(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    blocks.push_back(
        {.begin = static_cast<std::uint64_t>(rank) * part, .count = part, .source = rank, .position = position});
  }
  return blocks;
}

}  // namespace fabricbench
