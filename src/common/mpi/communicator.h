#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <mpi.h>

#include "common/core/units.h"

namespace fabricbench::mpi {

[[noreturn]] void fail(int code, const char* call);

/// Throws Error with MPI's own message if a call failed. `call` is the function's name.
inline void check(int code, const char* call) {
  if (code != 0) [[unlikely]]
    fail(code, call);  // MPI_SUCCESS is 0 by the standard
}

/// A communicator, freed with the object. Its methods are collective unless they say otherwise, and send the same
/// amount in each direction (docs/decisions/0011-symmetric-messages.md).
class Communicator {
 public:
  /// All processes, separate from MPI_COMM_WORLD, so that our messages never mix with those of measured operations.
  [[nodiscard]] static Communicator world();
  Communicator(Communicator&& other) noexcept;
  Communicator& operator=(Communicator&& other) noexcept;
  ~Communicator();

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] bool is_root() const { return rank_ == 0; }
  [[nodiscard]] MPI_Comm get() const { return communicator_; }

  /// The ranks with the same colour, which is not negative, in the order of their ranks here. Ranks without a colour
  /// get no communicator.
  [[nodiscard]] std::optional<Communicator> split(std::optional<int> colour) const { return split(colour, rank_); }
  /// The same, ordered by key.
  [[nodiscard]] std::optional<Communicator> split(std::optional<int> colour, int key) const;

  void barrier() const;
  /// A barrier with long waits: ranks that wait sleep, which leaves the processors to working ranks. This rank sleeps
  /// if `sleeps`.
  void barrier_asleep(bool sleeps) const;
  /// The largest value, for ranks that may have to wait long: they sleep meanwhile, and call `awake` between pauses of
  /// at most 10 ms.
  [[nodiscard]] std::int64_t max_asleep(std::int64_t value, const std::function<void()>& awake) const;

  /// Rank 0's value, on every rank.
  [[nodiscard]] std::string broadcast(std::string text) const;
  [[nodiscard]] std::int64_t broadcast(std::int64_t value) const;
  [[nodiscard]] Seconds broadcast(Seconds value) const;
  [[nodiscard]] std::vector<std::uint8_t> broadcast(std::vector<std::uint8_t> bytes) const;

  /// Over all ranks, on every rank.
  [[nodiscard]] double max(double value) const;
  [[nodiscard]] std::int64_t max(std::int64_t value) const;
  [[nodiscard]] std::vector<std::uint8_t> max(std::vector<std::uint8_t> values) const;
  [[nodiscard]] std::int64_t min(std::int64_t value) const;
  [[nodiscard]] std::int64_t sum(std::int64_t value) const;

  /// Element by element over all ranks, on every rank. All give the same number of values.
  [[nodiscard]] std::vector<double> all_reduce(std::vector<double> values, MPI_Op op) const;
  /// A value and the number of its owner.
  struct Located {
    double value;
    int rank;
  };
  /// The largest value with its owner, element by element, on every rank; of equal values the lowest owner.
  [[nodiscard]] std::vector<Located> max(std::vector<Located> values) const;

  /// Rank 0's value for this rank; rank 0 passes one value per rank.
  [[nodiscard]] std::int64_t scatter(const std::vector<std::int64_t>& values) const;
  /// Every rank's value, by rank, on every rank.
  [[nodiscard]] std::vector<std::uint64_t> all_gather(std::uint64_t value) const;
  /// Every rank's values, concatenated by rank; empty on ranks other than 0. All give the same number of values.
  [[nodiscard]] std::vector<double> gather(const std::vector<double>& values) const;
  /// Every rank's text, by rank; empty on ranks other than 0.
  [[nodiscard]] std::vector<std::string> gather(const std::string& text) const;

 private:
  explicit Communicator(MPI_Comm communicator);
  [[nodiscard]] std::vector<int> same_colour(std::optional<int> colour, int key) const;

  MPI_Comm communicator_;
  int rank_ = 0;
  int size_ = 0;
};

}  // namespace fabricbench::mpi
