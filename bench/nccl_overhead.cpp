// What an operation costs on the nccl backend besides NCCL's own call: all_reduce through the session's backend
// against a bare loop that calls the same function of the same library. On the fake of NCCL, whose operations do
// nothing at once, so that only calls are left. Prints nanoseconds an operation: medians over alternating rounds.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "common/backends/nccl/nccl_session.h"
#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/core/statistics.h"

namespace fabricbench::nccl {
namespace {

constexpr int kRounds = 31;
constexpr int kOperations = 200000;
constexpr std::size_t kCount = 2;

ProcessGroup alone() {
  ProcessGroup group;
  group.devices = {0};
  group.timeout = Options().timeout;
  group.broadcast = [](std::span<std::byte>) {};
  group.min = [](std::int64_t value) { return value; };
  return group;
}

/// A communicator of its own for the bare loop, made with as little as NCCL asks for.
ncclComm_t bare_communicator(const Library& library) {
  ncclUniqueId id;
  check(library, library.functions().get_unique_id(&id), "ncclGetUniqueId");
  Config config;
  ncclComm_t communicator = nullptr;
  check(library, library.functions().init_rank(&communicator, 1, id, 0, reinterpret_cast<ncclConfig_t*>(&config)),
        "ncclCommInitRankConfig");
  return communicator;
}

/// Nanoseconds for each of kOperations calls of `operation`.
template <typename Operation>
double cost_ns(Operation operation) {
  const Seconds begin = now();
  for (int i = 0; i < kOperations; ++i) operation();
  return (now() - begin) * 1e9 / kOperations;
}

void measure() {
  const auto library = std::make_shared<const Library>();
  NcclSession session(library, alone(), NcclOptions{});
  Session& measured = session;
  const Buffers data(session, kCount * sizeof(float));
  std::byte* buffer = data.on(0).data();
  const ncclComm_t communicator = bare_communicator(*library);
  const auto all_reduce = library->functions().all_reduce;
  const cuda::Stream stream = cuda::Stream::create(0);

  std::vector<double> bare;
  std::vector<double> ours;
  for (int round = 0; round < kRounds; ++round) {
    bare.push_back(cost_ns([&] {
      if (all_reduce(buffer, buffer, kCount, ncclFloat, ncclSum, communicator, stream.get()) != ncclSuccess)
        std::abort();
    }));
    ours.push_back(cost_ns([&] {
      collectives(measured.backend(0)).all_reduce(buffer, buffer, kCount, DataType::kFloat, Reduction::kSum);
    }));
  }
  fmt::print("bare {:.1f} ns, through the session {:.1f} ns, besides NCCL's own call {:.1f} ns\n", median(bare),
             median(ours), median(ours) - median(bare));
  library->functions().destroy(communicator);
}

}  // namespace
}  // namespace fabricbench::nccl

int main() {
  setenv("FAKE_NCCL_NULL", "1", 1);
  try {
    fabricbench::nccl::measure();
    return 0;
  } catch (const fabricbench::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.status());
  }
}
