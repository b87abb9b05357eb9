// What the tests of the nccl backend share: a session over all of the job's processes, and data in its buffers.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/backends/nccl/nccl_session.h"
#include "common/core/pattern_table.h"
#include "common/mpi/communicator.h"

namespace fabricbench::nccl {

inline int gpus_per_process() {
  const char* gpus = std::getenv("FABRICBENCH_TEST_GPUS");
  return gpus != nullptr ? std::atoi(gpus) : 1;
}

inline std::shared_ptr<const Library> load_library() { return std::make_shared<const Library>(); }

inline Options test_options() {
  Options options;
  options.timeout = 30;
  return options;
}

/// All processes of the job, each with devices of its own.
inline ProcessGroup group_of(const mpi::Communicator& world, const Options& options = test_options()) {
  ProcessGroup group;
  group.datatypes = options.datatypes;
  group.reductions = options.reductions;
  group.timeout = options.timeout;
  group.process = world.rank();
  group.processes = world.size();
  group.devices.resize(static_cast<std::size_t>(gpus_per_process()));
  std::iota(group.devices.begin(), group.devices.end(), world.rank() * gpus_per_process());
  group.broadcast = [&world](std::span<std::byte> bytes) {
    const auto* begin = reinterpret_cast<const std::uint8_t*>(bytes.data());
    const std::vector<std::uint8_t> sent = world.broadcast(std::vector<std::uint8_t>(begin, begin + bytes.size()));
    std::memcpy(bytes.data(), sent.data(), sent.size());
  };
  group.min = [&world](std::int64_t value) { return world.min(value); };
  return group;
}

/// A session of the whole job.
class NcclTest : public testing::Test {
 protected:
  std::unique_ptr<NcclSession> make_session(const Options& options = test_options(), bool choices_wanted = false) {
    return std::make_unique<NcclSession>(load_library(), group_of(world_, options), options.nccl, choices_wanted);
  }

  [[nodiscard]] int ranks() const { return world_.size() * gpus_per_process(); }
  [[nodiscard]] int rank_of(int local_rank) const { return world_.rank() * gpus_per_process() + local_rank; }

  mpi::Communicator world_ = mpi::Communicator::world();
};

/// Starts `operation(local_rank, backend)` on every rank of this process in one group.
template <typename Operation>
void start(Session& session, Operation operation) {
  session.begin_group();
  try {
    for (int i = 0; i < session.local_ranks(); ++i) operation(i, collectives(session.backend(i)));
  } catch (...) {
    try {  // or this thread's next session would be part of the group
      session.end_group();
    } catch (const std::exception&) {
    }
    throw;
  }
  session.end_group();
}

template <typename Operation>
void run(Session& session, Operation operation) {
  start(session, operation);
  session.wait();
}

}  // namespace fabricbench::nccl
