#include "common/mpi/communicator.h"

#include <numeric>
#include <utility>

#include "common/mpi/check.h"

namespace fabricbench::mpi {
namespace {

template <typename T>
T broadcast_one(T value, MPI_Datatype type, MPI_Comm communicator) {
  check(MPI_Bcast(&value, 1, type, 0, communicator), "MPI_Bcast");
  return value;
}

template <typename T>
T all_reduce_one(T value, MPI_Datatype type, MPI_Op op, MPI_Comm communicator) {
  check(MPI_Allreduce(MPI_IN_PLACE, &value, 1, type, op, communicator), "MPI_Allreduce");
  return value;
}

/// Broadcasts a container of bytes whose length only rank 0 knows.
template <typename Container>
Container broadcast_container(Container content, MPI_Comm communicator) {
  auto length = broadcast_one(static_cast<std::int64_t>(content.size()), MPI_INT64_T, communicator);
  content.resize(static_cast<std::size_t>(length));
  check(MPI_Bcast(content.data(), static_cast<int>(length), MPI_BYTE, 0, communicator), "MPI_Bcast");
  return content;
}

}  // namespace

Communicator::Communicator(MPI_Comm communicator) : communicator_(communicator) {
  check(MPI_Comm_rank(communicator_, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(communicator_, &size_), "MPI_Comm_size");
}

Communicator::Communicator(Communicator&& other) noexcept
    : communicator_(std::exchange(other.communicator_, MPI_COMM_NULL)), rank_(other.rank_), size_(other.size_) {}

Communicator& Communicator::operator=(Communicator&& other) noexcept {
  std::swap(communicator_, other.communicator_);
  std::swap(rank_, other.rank_);
  std::swap(size_, other.size_);
  return *this;
}

Communicator::~Communicator() {
  if (communicator_ != MPI_COMM_NULL) MPI_Comm_free(&communicator_);
}

Communicator Communicator::world() {
  MPI_Comm duplicate = MPI_COMM_NULL;
  check(MPI_Comm_dup(MPI_COMM_WORLD, &duplicate), "MPI_Comm_dup");
  return Communicator(duplicate);
}

std::optional<Communicator> Communicator::split(std::optional<int> colour) const {
  MPI_Comm part = MPI_COMM_NULL;
  check(MPI_Comm_split(communicator_, colour.value_or(MPI_UNDEFINED), rank_, &part), "MPI_Comm_split");
  if (part == MPI_COMM_NULL) return std::nullopt;
  return Communicator(part);
}

void Communicator::barrier() const { check(MPI_Barrier(communicator_), "MPI_Barrier"); }

std::string Communicator::broadcast(std::string text) const {
  return broadcast_container(std::move(text), communicator_);
}

std::int64_t Communicator::broadcast(std::int64_t value) const {
  return broadcast_one(value, MPI_INT64_T, communicator_);
}

Seconds Communicator::broadcast(Seconds value) const { return broadcast_one(value, MPI_DOUBLE, communicator_); }

std::vector<std::uint8_t> Communicator::broadcast(std::vector<std::uint8_t> bytes) const {
  return broadcast_container(std::move(bytes), communicator_);
}

double Communicator::max(double value) const { return all_reduce_one(value, MPI_DOUBLE, MPI_MAX, communicator_); }

std::int64_t Communicator::max(std::int64_t value) const {
  return all_reduce_one(value, MPI_INT64_T, MPI_MAX, communicator_);
}

std::vector<std::uint8_t> Communicator::max(std::vector<std::uint8_t> values) const {
  check(
      MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_UINT8_T, MPI_MAX, communicator_),
      "MPI_Allreduce");
  return values;
}

std::int64_t Communicator::min(std::int64_t value) const {
  return all_reduce_one(value, MPI_INT64_T, MPI_MIN, communicator_);
}

std::int64_t Communicator::sum(std::int64_t value) const {
  return all_reduce_one(value, MPI_INT64_T, MPI_SUM, communicator_);
}

std::vector<double> Communicator::reduce(std::vector<double> values, MPI_Op op) const {
  std::vector<double> reduced(is_root() ? values.size() : 0);
  check(MPI_Reduce(values.data(), reduced.data(), static_cast<int>(values.size()), MPI_DOUBLE, op, 0, communicator_),
        "MPI_Reduce");
  return reduced;
}

std::vector<Communicator::Located> Communicator::reduce_max(std::vector<Located> values) const {
  std::vector<Located> reduced(is_root() ? values.size() : 0);
  check(MPI_Reduce(values.data(), reduced.data(), static_cast<int>(values.size()), MPI_DOUBLE_INT, MPI_MAXLOC, 0,
                   communicator_),
        "MPI_Reduce");
  return reduced;
}

std::vector<std::uint64_t> Communicator::all_gather(std::uint64_t value) const {
  std::vector<std::uint64_t> values(static_cast<std::size_t>(size_));
  check(MPI_Allgather(&value, 1, MPI_UINT64_T, values.data(), 1, MPI_UINT64_T, communicator_), "MPI_Allgather");
  return values;
}

std::vector<double> Communicator::gather(const std::vector<double>& values) const {
  const int count = static_cast<int>(values.size());
  std::vector<double> all(is_root() ? values.size() * static_cast<std::size_t>(size_) : 0);
  check(MPI_Gather(values.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, 0, communicator_), "MPI_Gather");
  return all;
}

std::vector<std::string> Communicator::gather(const std::string& text) const {
  const auto ranks = static_cast<std::size_t>(size_);
  const int length = static_cast<int>(text.size());
  std::vector<int> lengths(is_root() ? ranks : 0);
  check(MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, communicator_), "MPI_Gather");
  std::vector<int> offsets(lengths.size());
  std::exclusive_scan(lengths.begin(), lengths.end(), offsets.begin(), 0);
  std::string all(is_root() ? static_cast<std::size_t>(offsets.back() + lengths.back()) : 0, '\0');
  check(MPI_Gatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(), offsets.data(), MPI_CHAR, 0,
                    communicator_),
        "MPI_Gatherv");
  std::vector<std::string> texts;
  for (std::size_t rank = 0; rank < lengths.size(); ++rank) {
    texts.push_back(all.substr(static_cast<std::size_t>(offsets[rank]), static_cast<std::size_t>(lengths[rank])));
  }
  return texts;
}

}  // namespace fabricbench::mpi
