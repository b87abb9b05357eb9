#include "common/mpi/communicator.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "common/core/clock.h"
#include "common/core/error.h"

namespace fabricbench::mpi {
namespace {

/// Before MPI has started and after it has ended, it ends the process that asks it for a text.
std::string text_of(int code) {
  int started = 0;
  int ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  if (started == 0 || ended != 0) return fmt::format("error code {}", code);
  char text[MPI_MAX_ERROR_STRING] = "unknown error";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return text;
}

template <typename T>
std::vector<T> all_reduce_each(std::vector<T> values, MPI_Datatype type, MPI_Op op, MPI_Comm communicator) {
  const int count = static_cast<int>(values.size());
  check(MPI_Allreduce(MPI_IN_PLACE, values.data(), count, type, op, communicator), "MPI_Allreduce");
  return values;
}

template <typename T>
T all_reduce_one(T value, MPI_Datatype type, MPI_Op op, MPI_Comm communicator) {
  return all_reduce_each(std::vector{value}, type, op, communicator).front();
}

/// Broadcasts a container of bytes whose length only rank 0 knows: as the bitwise union with zeros from all other
/// ranks.
template <typename Container>
Container broadcast_container(Container content, bool is_root, MPI_Comm communicator) {
  const auto length = static_cast<std::int64_t>(is_root ? content.size() : 0);
  if (!is_root) content.clear();
  content.resize(static_cast<std::size_t>(all_reduce_one(length, MPI_INT64_T, MPI_SUM, communicator)));
  check(MPI_Allreduce(MPI_IN_PLACE, content.data(), static_cast<int>(content.size()), MPI_BYTE, MPI_BOR, communicator),
        "MPI_Allreduce");
  return content;
}

/// Creates a communicator from a group, and frees the group; collective over the group. Not MPI_Comm_dup or
/// MPI_Comm_split: after those, Open MPI 4.1 polls for non-blocking collectives whenever it waits for messages, which
/// costs 4 % of a ping-pong of 8 bytes (docs/decisions/0012-communicators-of-groups.md).
MPI_Comm create(MPI_Comm parent, MPI_Group group) {
  constexpr int kTag = 0;
  MPI_Comm created = MPI_COMM_NULL;
  check(MPI_Comm_create_group(parent, group, kTag, &created), "MPI_Comm_create_group");
  check(MPI_Group_free(&group), "MPI_Group_free");
  return created;
}

/// Each pause is an eighth of the wait so far: short enough to react soon, and with few wake-ups that disturb working
/// ranks.
void wait_asleep(MPI_Request request, const std::function<void()>& awake) {
  constexpr Seconds kFirstPause = 50e-6;
  constexpr Seconds kLongestPause = 10e-3;
  constexpr int kPausesOfAWait = 8;
  Seconds waited = 0;
  while (true) {
    int done = 0;
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done != 0) return;
    awake();
    const auto pause = std::clamp(waited / kPausesOfAWait, kFirstPause, kLongestPause);
    sleep_for(pause);
    waited += pause;
  }
}

}  // namespace

void fail(int code, const char* call) {
  throw Error(ExitStatus::kFailure, fmt::format("mpi: {}: {}", call, text_of(code)));
}

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
  MPI_Group everybody = MPI_GROUP_NULL;
  check(MPI_Comm_group(MPI_COMM_WORLD, &everybody), "MPI_Comm_group");
  return Communicator(create(MPI_COMM_WORLD, everybody));
}

std::optional<Communicator> Communicator::split(std::optional<int> colour, int key) const {
  const std::vector<int> ranks = same_colour(colour, key);
  if (!colour) return std::nullopt;
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group part = MPI_GROUP_NULL;
  check(MPI_Comm_group(communicator_, &all), "MPI_Comm_group");
  check(MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &part), "MPI_Group_incl");
  check(MPI_Group_free(&all), "MPI_Group_free");
  return Communicator(create(communicator_, part));
}

/// The ranks with this colour, ordered by key. Collective.
std::vector<int> Communicator::same_colour(std::optional<int> colour, int key) const {
  constexpr int kNone = -1;  // colours are not negative, as in MPI_Comm_split
  const std::array<int, 2> own = {colour.value_or(kNone), key};
  std::vector<std::array<int, 2>> all(static_cast<std::size_t>(size_));
  check(MPI_Allgather(own.data(), 2, MPI_INT, all.data(), 2, MPI_INT, communicator_), "MPI_Allgather");
  std::vector<int> ranks;
  ranks.reserve(all.size());
  for (int rank = 0; rank < size_; ++rank) {
    if (all[static_cast<std::size_t>(rank)][0] == own[0]) ranks.push_back(rank);
  }
  std::stable_sort(ranks.begin(), ranks.end(), [&](int first, int second) {
    return all[static_cast<std::size_t>(first)][1] < all[static_cast<std::size_t>(second)][1];
  });
  return ranks;
}

void Communicator::barrier() const { check(MPI_Barrier(communicator_), "MPI_Barrier"); }

void Communicator::barrier_asleep(bool sleeps) const {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ibarrier(communicator_, &request), "MPI_Ibarrier");
  if (sleeps) {
    wait_asleep(request, [] {});
  } else {
    check(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
  }
}

std::int64_t Communicator::max_asleep(std::int64_t value, const std::function<void()>& awake) const {
  std::int64_t most = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallreduce(&value, &most, 1, MPI_INT64_T, MPI_MAX, communicator_, &request), "MPI_Iallreduce");
  wait_asleep(request, awake);
  return most;
}

std::string Communicator::broadcast(std::string text) const {
  return broadcast_container(std::move(text), is_root(), communicator_);
}

std::int64_t Communicator::broadcast(std::int64_t value) const { return sum(is_root() ? value : 0); }

Seconds Communicator::broadcast(Seconds value) const {
  return all_reduce_one(is_root() ? value : 0, MPI_DOUBLE, MPI_SUM, communicator_);
}

std::vector<std::uint8_t> Communicator::broadcast(std::vector<std::uint8_t> bytes) const {
  return broadcast_container(std::move(bytes), is_root(), communicator_);
}

double Communicator::max(double value) const { return all_reduce_one(value, MPI_DOUBLE, MPI_MAX, communicator_); }

std::int64_t Communicator::max(std::int64_t value) const {
  return all_reduce_one(value, MPI_INT64_T, MPI_MAX, communicator_);
}

std::vector<std::uint8_t> Communicator::max(std::vector<std::uint8_t> values) const {
  return all_reduce_each(std::move(values), MPI_UINT8_T, MPI_MAX, communicator_);
}

std::int64_t Communicator::min(std::int64_t value) const {
  return all_reduce_one(value, MPI_INT64_T, MPI_MIN, communicator_);
}

std::int64_t Communicator::sum(std::int64_t value) const {
  return all_reduce_one(value, MPI_INT64_T, MPI_SUM, communicator_);
}

std::vector<double> Communicator::all_reduce(std::vector<double> values, MPI_Op op) const {
  return all_reduce_each(std::move(values), MPI_DOUBLE, op, communicator_);
}

std::vector<Communicator::Located> Communicator::max(std::vector<Located> values) const {
  return all_reduce_each(std::move(values), MPI_DOUBLE_INT, MPI_MAXLOC, communicator_);
}

std::int64_t Communicator::scatter(const std::vector<std::int64_t>& values) const {
  std::int64_t own = 0;
  check(MPI_Scatter(values.data(), 1, MPI_INT64_T, &own, 1, MPI_INT64_T, 0, communicator_), "MPI_Scatter");
  std::vector<std::int64_t> back(values.size());  // the same amount back, only for symmetry
  check(MPI_Gather(&own, 1, MPI_INT64_T, back.data(), 1, MPI_INT64_T, 0, communicator_), "MPI_Gather");
  return own;
}

std::vector<std::uint64_t> Communicator::all_gather(std::uint64_t value) const {
  std::vector<std::uint64_t> values(static_cast<std::size_t>(size_));
  check(MPI_Allgather(&value, 1, MPI_UINT64_T, values.data(), 1, MPI_UINT64_T, communicator_), "MPI_Allgather");
  return values;
}

std::vector<double> Communicator::gather(const std::vector<double>& values) const {
  const auto as_text = std::as_bytes(std::span(values));
  std::string together;
  for (const std::string& text : gather(std::string(reinterpret_cast<const char*>(as_text.data()), as_text.size()))) {
    together += text;
  }
  std::vector<double> all(together.size() / sizeof(double));
  if (!all.empty()) std::memcpy(all.data(), together.data(), together.size());
  return all;
}

std::vector<std::string> Communicator::gather(const std::string& text) const {
  const auto ranks = static_cast<std::size_t>(size_);
  int length = static_cast<int>(text.size());
  std::vector<int> lengths(is_root() ? ranks : 0);
  check(MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, communicator_), "MPI_Gather");
  std::vector<int> offsets(lengths.size());
  std::exclusive_scan(lengths.begin(), lengths.end(), offsets.begin(), 0);
  std::string all(is_root() ? static_cast<std::size_t>(offsets.back() + lengths.back()) : 0, '\0');
  check(MPI_Gatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(), offsets.data(), MPI_CHAR, 0,
                    communicator_),
        "MPI_Gatherv");
  // The same amount back, only for symmetry.
  std::string back(text.size(), '\0');
  check(MPI_Scatter(lengths.data(), 1, MPI_INT, &length, 1, MPI_INT, 0, communicator_), "MPI_Scatter");
  check(MPI_Scatterv(all.data(), lengths.data(), offsets.data(), MPI_CHAR, back.data(), length, MPI_CHAR, 0,
                     communicator_),
        "MPI_Scatterv");
  std::vector<std::string> texts;
  for (std::size_t rank = 0; rank < lengths.size(); ++rank) {
    texts.push_back(all.substr(static_cast<std::size_t>(offsets[rank]), static_cast<std::size_t>(lengths[rank])));
  }
  return texts;
}

}  // namespace fabricbench::mpi
