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
#include "common/core/session.h"
#include "common/core/traffic.h"
#include "common/core/units.h"
#include "common/record/context.h"

namespace fabricbench {

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
struct Participant {
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
  int stage;                 ///< from 0; see Test::stages
  const Exchange* exchange;  ///< null where the collective has none
  ReceiveTime* receiving;    ///< of windows in both directions, to be added to
};

/// What is fixed about a test, whatever it runs on.
struct TestTraits {
  std::string name;  ///< as in the program's name without `_perf`
  Figure figure = Figure::kCollective;

  // Of collectives:
  bool reduces = false;
  bool has_root = false;
  bool moves_data = true;

  // Of messages between the two ranks of a pair:
  int messages_in_turn = 1;          ///< in one start, each waiting for the one before; times are of one of them
  int idle_rank = -1;                ///< has nothing to do while the other one's device works on its memory; -1: none
  bool times_what_it_sends = false;  ///< of two directions, a rank's time is of the one it sends in
  std::string time_means{};          ///< what the time of a row is, where the figure alone does not say it
};

/// Messages of which many are under way at once: the operations of an iteration are a window.
class Windows {
 public:
  /// Completes a window, on all ranks of a process before `answer` starts on any of them what follows a window.
  virtual void finish(Backend& backend, const Operands& operands) const = 0;
  virtual void answer(Backend& backend, const Operands& operands) const = 0;
  /// Whether operations of a window follow each other without an end, so that windows may have any number of them.
  [[nodiscard]] virtual bool are_stream() const { return false; }

 protected:
  ~Windows() = default;
};

/// What is measured: how it lays out data, what must stand where afterwards, how its bandwidths follow from its time,
/// and which primitive of a backend it starts.
class Test {
 public:
  explicit Test(TestTraits traits) : traits_(std::move(traits)) {}
  Test(const Test&) = delete;
  Test& operator=(const Test&) = delete;
  virtual ~Test() = default;

  [[nodiscard]] const TestTraits& traits() const { return traits_; }

  /// Takes what options say. Called once, before everything else but `traits`.
  virtual void configure(const Options& /*options*/) {}
  /// Takes who sends how much to whom, where sizes alone do not say it. Called once, before data are laid out.
  virtual void use(const Traffic& /*traffic*/) {}
  /// Why so many ranks cannot do it; empty where they can.
  [[nodiscard]] virtual std::string why_not_ranks(int /*ranks*/) const { return ""; }
  /// Why a message of this size cannot be measured; empty where it can.
  [[nodiscard]] virtual std::string why_not_size(Bytes /*size*/) const { return ""; }

  [[nodiscard]] virtual Layout layout(Request request, int ranks) const = 0;
  /// Nothing where there is no in-place form.
  [[nodiscard]] virtual std::optional<InPlace> in_place(const Layout& /*layout*/, const Participant& /*self*/) const {
    return std::nullopt;
  }
  /// What a rank must find in its receive buffer; nothing where it receives nothing.
  [[nodiscard]] virtual std::vector<ExpectedBlock> expected(const Layout& layout, const Participant& self) const = 0;
  [[nodiscard]] virtual std::optional<Exchange> exchange(const Layout& /*layout*/, const Participant& /*self*/) const {
    return std::nullopt;
  }

  [[nodiscard]] virtual double bus_factor(int ranks) const = 0;
  /// Which part of the message size counts for the algorithm bandwidth.
  [[nodiscard]] virtual double counted_share(int /*ranks*/) const { return 1; }

  /// An operation may be several steps, each of which needs the one before to have been started on all ranks of a
  /// process; `start` is called for one after the other.
  [[nodiscard]] virtual int stages(int /*ranks*/) const { return 1; }
  virtual void start(Backend& backend, const Operands& operands) const = 0;
  /// Null where each operation completes by itself.
  [[nodiscard]] virtual const Windows* windows() const { return nullptr; }

 protected:
  TestTraits traits_;
};

/// An operation of all ranks together.
class Collective : public Test {
 public:
  using Test::Test;
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
