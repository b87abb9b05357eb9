#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <mpi.h>

#include "common/core/units.h"

namespace fabricbench::mpi {

/// A communicator of its own, freed with the object. The methods are collective over it unless they say not, and
/// send as much in each direction (docs/decisions/0011-symmetric-messages.md).
class Communicator {
 public:
  /// Of all processes, beside MPI_COMM_WORLD, so that our messages never meet those of the operations measured.
  [[nodiscard]] static Communicator world();
  Communicator(Communicator&& other) noexcept;
  Communicator& operator=(Communicator&& other) noexcept;
  ~Communicator();

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] bool is_root() const { return rank_ == 0; }
  [[nodiscard]] MPI_Comm get() const { return communicator_; }

  /// The ranks with equal colour, which is not negative, in the order of their ranks here. Ranks without a colour get
  /// nothing.
  [[nodiscard]] std::optional<Communicator> split(std::optional<int> colour) const { return split(colour, rank_); }
  /// The same in the order of their keys.
  [[nodiscard]] std::optional<Communicator> split(std::optional<int> colour, int key) const;

  void barrier() const;
  /// The same where some ranks wait for long, and sleep so that whoever works gets the processors: this one, if
  /// `sleeps`.
  void barrier_asleep(bool sleeps) const;
  /// The largest value, for ranks that may have to wait for long: they sleep meanwhile.
  [[nodiscard]] std::int64_t max_patiently(std::int64_t value) const;

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

  /// Element by element over all ranks, on every rank. All give as many values.
  [[nodiscard]] std::vector<double> all_reduce(std::vector<double> values, MPI_Op op) const;
  /// A value and the number of whoever has it.
  struct Located {
    double value;
    int rank;
  };
  /// The largest value, element by element, and of equal ones the lowest number, on every rank.
  [[nodiscard]] std::vector<Located> max(std::vector<Located> values) const;

  /// The value that rank 0 has for this rank; it has one for each.
  [[nodiscard]] std::int64_t scatter(const std::vector<std::int64_t>& values) const;
  /// Every rank's value, by rank, on every rank.
  [[nodiscard]] std::vector<std::uint64_t> all_gather(std::uint64_t value) const;
  /// Every rank's values, by rank, one behind the other; empty on ranks other than 0. All give as many.
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
