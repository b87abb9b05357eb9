#include "common/backends/nccl/communicators.h"

#include <chrono>
#include <exception>
#include <future>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "common/backends/cuda/stream.h"
#include "common/core/error.h"

namespace fabricbench::nccl {
namespace {

constexpr Seconds kAbortLimit = 10;

/// The data that a thread needs to create communicators; owned by the thread.
struct Making {
  std::shared_ptr<const Library> library;
  std::shared_ptr<std::vector<ncclComm_t>> handles;
  CommunicatorPlan plan;
  ncclUniqueId id;

  void make_one(std::size_t local_rank) {
    const LocalRank& rank = plan.local[local_rank];
    const cuda::DeviceGuard device(rank.device);
    Config config = plan.config;  // NCCL takes a pointer and may modify it
    check(*library,
          library->functions().init_rank(&(*handles)[local_rank], plan.ranks, id, rank.rank,
                                         reinterpret_cast<ncclConfig_t*>(&config)),
          "ncclCommInitRankConfig", rank.place);
  }

  void make_in_group() {
    Group group(*library);
    for (std::size_t i = 0; i < plan.local.size(); ++i) make_one(i);
    group.end();
  }

  void make_in_parallel() {
    std::vector<std::exception_ptr> problems(plan.local.size());
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < plan.local.size(); ++i) {
      threads.emplace_back([this, i, &problems] {
        try {
          make_one(i);
        } catch (...) {
          problems[i] = std::current_exception();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& problem : problems) {
      if (problem) std::rethrow_exception(problem);
    }
  }
};

/// Makes a communicator's device current while NCCL releases it. NCCL goes back to the device that was current before,
/// which on a new thread is GPU 0, and going there makes a context. A device may be lost, and no hindrance.
std::unique_ptr<const cuda::DeviceGuard> current_if_there(int device) {
  try {
    return std::make_unique<const cuda::DeviceGuard>(device);
  } catch (const Error&) {
    return nullptr;
  }
}

}  // namespace

bool finish_within(Seconds limit, std::function<void()> work) {
  std::packaged_task<void()> task([work = std::move(work)] { work(); });
  std::future<void> done = task.get_future();
  std::thread(std::move(task)).detach();
  if (limit > 0 && done.wait_for(std::chrono::duration<Seconds>(limit)) != std::future_status::ready) return false;
  done.get();
  return true;
}

Communicators::Communicators(std::shared_ptr<const Library> library, const ncclUniqueId& id, CommunicatorPlan plan)
    : library_(std::move(library)),
      plan_(std::move(plan)),
      handles_(std::make_shared<Handles>(plan_.local.size(), nullptr)) {
  const auto making = std::make_shared<Making>(Making{library_, handles_, plan_, id});
  const bool made = finish_within(plan_.time_limit, [making] {
    if (making->plan.in_parallel) {
      making->make_in_parallel();
    } else {
      making->make_in_group();
    }
  });
  if (made) return;
  const std::string detail = last_error(*library_);
  throw Error(ExitStatus::kTimeout,
              fmt::format("nccl: {}: the communicator of {} ranks was not there within {} s; NCCL's last error: {}",
                          plan_.local.front().place, plan_.ranks, plan_.time_limit, detail.empty() ? "none" : detail));
}

Communicators::~Communicators() {
  if (std::uncaught_exceptions() > 0) {
    abort();
  } else if (!aborted()) {
    destroy();
  }
}

std::string Communicators::asynchronous_error() const {
  const std::lock_guard lock(querying_);
  if (aborted()) return "";
  for (std::size_t i = 0; i < handles_->size(); ++i) {
    ncclResult_t state = ncclSuccess;
    const ncclResult_t result = library_->functions().async_error((*handles_)[i], &state);
    if (result == ncclSuccess && (state == ncclSuccess || state == ncclInProgress)) continue;
    return fmt::format("{}: {}", plan_.local[i].place,
                       problem_text(*library_, result == ncclSuccess ? state : result, "ncclCommGetAsyncError"));
  }
  return "";
}

void Communicators::abort() noexcept {
  try {
    {
      const std::lock_guard lock(querying_);
      if (aborted_.exchange(true)) return;
    }
    const bool ended = finish_within(kAbortLimit, [library = library_, handles = handles_, local = plan_.local] {
      for (std::size_t i = 0; i < local.size(); ++i) {
        const auto device = current_if_there(local[i].device);
        library->functions().abort((*handles)[i]);
      }
    });
    if (!ended) fmt::print(stderr, "nccl: ncclCommAbort has not ended within {} s\n", kAbortLimit);
  } catch (const std::exception& error) {
    fmt::print(stderr, "nccl: aborting: {}\n", error.what());
  }
}

void Communicators::destroy() noexcept {
  try {
    const bool ended = finish_within(plan_.time_limit, [library = library_, handles = handles_, local = plan_.local] {
      for (std::size_t i = 0; i < local.size(); ++i) {
        const auto device = current_if_there(local[i].device);
        check(*library, library->functions().destroy((*handles)[i]), "ncclCommDestroy");
      }
    });
    if (!ended) fmt::print(stderr, "nccl: ncclCommDestroy has not ended within {} s\n", plan_.time_limit);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
  }
}

void Communicators::throw_aborted() { throw Error(ExitStatus::kFailure, "nccl: the communicators have been aborted"); }

}  // namespace fabricbench::nccl
